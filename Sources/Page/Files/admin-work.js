/** The operator's jobs: backup, check of all stores, import of a catalogue; one at a time, with progress. */
import { h } from "./dom.js"
import { ask, bytes, count, moment, Refusal } from "./admin-api.js"
import { sheet } from "./admin-tables.js"

const titles = { backup: "Backup", verification: "Check of all stores", repair: "Repair", replacement: "Replacement of a store", move: "Move to a database", catalogue: "Import of hotels" }
const tones = { running: "busy", done: "good", failed: "bad" }

/** @param {function(string): void} say shows a text to the user */
export async function work(place, signal, say) {
  const jobs = h("div", { class: "sheet" })
  const kept = h("div")
  const look = async () => {
    const { jobs: all } = await ask("/v1/admin/jobs")
    jobs.replaceChildren(...all.length ? all.map(job => view(job, start)) : [h("p", { class: "none" }, "Nothing was started since the server began.")])
    kept.replaceChildren(await backups(start))
    for (const each of jobs.querySelectorAll("progress[data-value]")) each.value = Number(each.dataset.value)
    return all.some(each => each.state === "running")
  }
  let isBusy
  const start = async (path, said = "It has begun.", method = "POST") => {
    try {
      await ask(path, { method })
      say(said)
    } catch (error) { say(error.message) }
    isBusy = await look()
  }
  isBusy = await look()
  const file = h("input", { type: "file", id: "file", accept: ".json,.ndjson,.jsonl,.geojson,.csv,.tsv,.txt,.gz", "aria-describedby": "file-hint" })
  const strict = h("input", { type: "checkbox", id: "strict" })
  const replace = h("input", { type: "checkbox", id: "replace" })
  const dry = h("input", { type: "checkbox", id: "dry" })
  const sending = h("p", { class: "hint", role: "status" })
  const upload = h("form", {
    class: "work", onsubmit: async event => {
      event.preventDefault()
      if (!file.files[0]) { sending.textContent = "Choose a file first."; return }
      isBusy = true
      await importFile(file.files[0], `strict=${strict.checked}&replace=${replace.checked}&dryRun=${dry.checked}`, sending)
      isBusy = await look()
    },
  }, h("h2", null, "Hotels of the catalogue"),
  h("p", { id: "file-hint" }, "Replaces the hotels that this server searches in by those of a file: JSON, GeoJSON or CSV, perhaps packed with gzip. People go on searching in the old ones until the new ones are there."),
  h("div", null, h("label", { for: "file" }, "File"), file),
  h("label", { class: "check" }, strict, "One bad row refuses the file"),
  h("label", { class: "check" }, replace, "Import also a file that looks like a mistake"),
  h("label", { class: "check" }, dry, "Only show what would become of the file"), sending,
  h("div", { class: "row" }, h("button", { class: "main", type: "submit" }, "Import"),
    h("button", { type: "button", onclick: () => start("/v1/admin/catalogue/undo", "The former hotels are back.") }, "Bring back the former hotels")))
  place.replaceChildren(h("h1", { tabindex: "-1" }, "Work"),
    h("p", { class: "lead" }, "One piece of work runs at a time. People can use the server meanwhile."),
    h("div", { class: "works" },
      card("Backup", "Copies all stores, keys and the catalogue into the directory of backups. Every copy is checked.", "Back up now", () => start("/v1/admin/backups")),
      card("Check", "Looks through every store for damage and changes nothing.", "Check all stores", () => start("/v1/admin/verifications")), upload),
    h("section", { class: "block" }, h("h2", null, "Backups"), kept),
    h("section", { class: "block" }, h("h2", null, "Lately"), jobs))
  const timer = setInterval(async () => { if (isBusy) isBusy = await look().catch(() => true) }, 500)
  signal.addEventListener("abort", () => clearInterval(timer))
}

/** The backups in the directory of backups. */
async function backups(start) {
  let all
  try { ({ backups: all } = await ask("/v1/admin/backups")) } catch (error) { return h("p", { class: "lead" }, error.message) }
  const button = (label, { name }, run) => h("button", { class: "quiet", "aria-label": `${label}: ${name}`, onclick: run }, label)
  return sheet("Backups", ["Made", "State", "Actions"], all.map(each => {
    const path = `/v1/admin/backups/${encodeURIComponent(each.name)}`
    return [each.name, h("span", { class: `state ${each.isWhole ? "good" : "busy"}` }, each.isWhole ? "whole" : "not whole"), h("div", { class: "row" },
      each.isWhole && button("Verify", each, () => start(`${path}/verifications`)),
      button("Remove", each, () => confirm(`Remove the backup ${each.name}?`) && start(path, "It is removed.", "DELETE")))]
  }), "There is none yet.")
}

function card(title, words, label, act) {
  return h("section", { class: "work" }, h("h2", null, title), h("p", null, words),
    h("div", { class: "row" }, h("button", { class: "main", type: "button", onclick: act }, label)))
}

/** @param {function(string, string, string): void} start sends a request and shows that it has begun */
function view(job, start) {
  const done = job.kind === "catalogue" ? `${bytes(job.done)} read` : job.total ? `${count(job.done)} of ${count(job.total)} stores` : `${count(job.done)} stores`
  const share = job.total ? job.done / job.total : undefined
  return h("article", { class: "job", "data-state": job.state },
    h("div", { class: "row apart" }, h("h3", null, titles[job.kind]), h("span", { class: `state ${tones[job.state]}` }, job.state)),
    h("p", { class: "hint" }, moment(job.startedAt), job.state === "running" ? `: ${done}` : job.result ? `: ${job.result}` : ""),
    job.state === "running" && (share === undefined ? h("progress", { "aria-label": done }) : h("progress", { max: 1, "data-value": share, "aria-label": done })),
    job.state === "running" && h("div", { class: "row" }, h("button", { class: "quiet", type: "button", onclick: () => start(`/v1/admin/jobs/${job.id}`, "It is being cancelled.", "DELETE") }, "Cancel")),
    job.findings.length > 0 && h("details", null, h("summary", null, `${count(job.findingCount)} findings`), h("ul", null, job.findings.map(each => h("li", null, each)))))
}

/** Sends a file and shows how many bytes are sent. `XMLHttpRequest`, because `fetch` does not report that. */
function importFile(file, query, sending) {
  return new Promise(resolve => {
    const request = new XMLHttpRequest()
    request.open("POST", "/v1/admin/catalogue?" + query)
    request.setRequestHeader("Content-Type", "application/x-ndjson")
    request.upload.onprogress = event => { sending.textContent = `${bytes(event.loaded)} of ${bytes(event.total)} sent` }
    request.onload = () => {
      try {
        const answer = JSON.parse(request.responseText)
        sending.textContent = answer.state === "done" ? `Done: ${answer.result}.` : `Not imported: ${answer.reason}`
      } catch { sending.textContent = new Refusal(request.status, `The server answered ${request.status}.`).message }
      resolve()
    }
    request.onerror = () => { sending.textContent = "The server can't be reached, or refused the file at once."; resolve() }
    request.send(file)
  })
}
