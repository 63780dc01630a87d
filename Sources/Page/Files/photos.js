import { client } from "./client.js"
import { h, icon } from "./dom.js"
import { announce, ask, attempt, toast } from "./messages.js"
import { waits } from "./states.js"
import { t } from "./texts.js"

/** The photos of a bookmark: shown, taken, made smaller and removed. */

/** The longest side of a photo that is sent, in pixels. */
const longestSide = 2048
/** The server's limits: photos of a bookmark, and bytes of one. */
const most = 20, largest = 10 << 20

/**
 * A photo made smaller, without what the camera has written into it. An animation, and what this browser can't show, stay as
 * they are: the server cleans them, too.
 */
async function smaller(file) {
  const picture = file.type !== "image/gif" && await createImageBitmap(file).catch(() => null)
  if (!picture) return file
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height))
  const canvas = h("canvas", { width: Math.max(1, Math.round(picture.width * scale)), height: Math.max(1, Math.round(picture.height * scale)) })
  const context = canvas.getContext("2d")
  context.fillStyle = "#fff"
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  return new Promise(resolve => canvas.toBlob(blob => resolve(blob ?? file), "image/jpeg", 0.85))
}

/** The bytes of each picture are fetched when it comes near the screen. */
const nearby = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    nearby.unobserve(target)
    target.fetchPhoto()
  }
}, { rootMargin: "400px" })

function picture(photo, bookmark, list, alt) {
  const image = h("img", { alt, decoding: "async" })
  const fail = () => image.replaceWith(h("p.muted.small", t.photoNotHere))
  image.fetchPhoto = () => client.photo(bookmark.id, photo, { list }).then(blob => {
    const url = URL.createObjectURL(blob)
    image.onload = () => URL.revokeObjectURL(url)
    image.onerror = fail
    image.src = url
  }, fail)
  nearby.observe(image)
  return image
}

/** A button that opens the choice of a file. @param {object} [props] More attributes of the choice. */
function adder(bookmark, list, text, shape, props) {
  const choice = h("input.unseen", { type: "file", accept: "image/*", tabindex: -1, "aria-hidden": "true", ...props, onchange: () => attempt(async () => {
    const files = [...choice.files].slice(0, most - (bookmark.photos?.length ?? 0))
    choice.value = ""
    for (const file of files) {
      const photo = await smaller(file)
      if (photo.size > largest) toast(t.photoTooLarge)
      else await client.putPhoto(bookmark.id, photo, { list })
    }
    announce(t.photosAdded(files.length))
  }) })
  return h("span", props?.capture ? { class: "camera" } : null, choice, h("button", { onclick: () => choice.click() }, icon(shape), text))
}

/**
 * The photos of a bookmark with their buttons, as elements.
 * @param {object} bookmark @param {string} name The hotel's.
 * @param {{list?: string, mayWrite?: boolean}} [options]
 */
export function photosOf(bookmark, name, { list, mayWrite = true } = {}) {
  const photos = bookmark.photos ?? []
  const remove = (photo, alt) => attempt(async () => {
    if (await ask({ title: t.removePhotoAsk, text: alt, yes: t.remove, danger: true })) await client.deletePhoto(bookmark.id, photo.name, { list })
  })
  const shown = photos.map((photo, at) => {
    const alt = t.photoOf(at + 1, photos.length, name)
    return h("li", picture(photo, bookmark, list, alt), waits(photo),
      mayWrite ? h("button", { "aria-label": `${t.remove}: ${alt}`, onclick: () => remove(photo, alt) }, "×") : null)
  })
  return [shown.length ? h("ul.photos", { "aria-label": t.photos }, shown) : null,
    mayWrite && !bookmark.draft && photos.length < most ? h("div.row",
      adder(bookmark, list, t.takePhoto, "camera", { capture: "environment" }), adder(bookmark, list, t.addPhotos, "plus", { multiple: true })) : null
  ].filter(Boolean)
}
