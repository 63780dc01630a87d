-- Makes requests for wrk. The first argument names a file with the plan:
--   return { kind = "get", targets = {{ path = "/couch/db", headers = {…} }}, … }
-- `kind` selects one of the functions in `kinds` below. A target is one database or one person. The plan says how the
-- requests are spread over the targets:
--   `spread = "turn"`    each request takes the next target
--   `spread = "random"`  each request takes any target
--   `spread = "thread"`  each thread keeps one target
--   `pertarget = N`      each thread takes the next target after N requests
local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

local plan, filler, made, target, revision, failures
-- The status and body of the first error. It is recorded only if the plan says `explains`, because wrk then calls a
-- function for each response.
refusal = ""

function init(arguments)
  plan = dofile(arguments[1])
  made, target, failures = 0, 1, 0
  math.randomseed(number + plan.seed)
  filler = string.rep("x", plan.bytes or 1024)
  -- CouchDB accepts JSON with this content type only. In a request without a body, the field has no effect.
  for _, at in ipairs(plan.targets) do at.headers["Content-Type"] = "application/json" end
  if plan.kind == "update" then response = take_revision end
  if plan.kind == "calls" then response = next_call end
  if plan.explains then
    local take = response
    response = function(status, headers, body)
      if status >= 400 and refusal == "" then refusal = status .. " " .. body:sub(1, 300) end
      if take then take(status, headers, body) end
    end
  end
end

local function next_target()
  local count = #plan.targets
  if plan.spread == "thread" then
    target = number % count + 1
  elseif plan.spread == "turn" then
    target = (made * plan.threads + number) % count + 1
  elseif plan.spread == "random" then
    target = math.random(count)
  elseif plan.pertarget then
    target = math.floor(made / plan.pertarget) % count + 1
  end
  return plan.targets[target]
end

local function document(id)
  return string.format('{"_id":"%s","type":"note","n":%d,"text":"%s"}', id, made, filler)
end

local function fresh_id()
  return string.format("%s-%d-%08d", plan.name, number, made)
end

local kinds = {}

-- Reads one of the first `count` documents, chosen at random, or its attachment `part`.
function kinds.get(at)
  local id = string.format("/doc-%06d", math.random(plan.count) - 1)
  return wrk.format("GET", at.path .. id .. (plan.part or ""), at.headers)
end

-- Sends the same request each time.
function kinds.same(at)
  return wrk.format(plan.method, at.path .. plan.path, at.headers, plan.body)
end

-- Creates a document.
function kinds.put(at)
  local id = fresh_id()
  return wrk.format("PUT", at.path .. "/" .. id, at.headers, document(id))
end

-- Writes the next revision of one document. Works with one connection only.
function kinds.update(at)
  local base = revision and string.format('"_rev":"%s",', revision) or ""
  local body = string.format('{%s"type":"note","n":%d,"text":"%s"}', base, made, filler)
  return wrk.format("PUT", at.path .. "/" .. plan.name, at.headers, body)
end

function take_revision(status, headers, body)
  revision = body:match('"rev":"([^"]+)"') or revision
end

-- Creates `items` documents in one request.
function kinds.bulk(at)
  local documents, id = {}, fresh_id()
  for place = 1, plan.items do documents[place] = document(id .. "-" .. place) end
  return wrk.format(
    "POST", at.path .. "/_bulk_docs", at.headers, '{"docs":[' .. table.concat(documents, ",") .. "]}")
end

-- Creates a database.
function kinds.database(at)
  return wrk.format("PUT", at.path .. "/" .. fresh_id(), at.headers)
end

-- Bookmarks 50 hotels, removes these bookmarks, and repeats both. Each person has their own bookmarks.
local steps = {}
function kinds.bookmark(at)
  local step = steps[target] or 0
  -- wrk calls `request` once more for the first thread and does not send that request, so it is not counted.
  if made > 0 or number > 0 then steps[target] = step + 1 end
  local path = string.format("%s/bench-%d", at.path, step % 50)
  if math.floor(step / 50) % 2 == 1 then return wrk.format("DELETE", path, at.headers) end
  return wrk.format("PUT", path, at.headers, plan.body)
end

-- Bookmarks 50 hotels, removes these bookmarks, and repeats both, with the calls of a client of plain CouchDB: it reads
-- the list, writes or deletes the hotel, and writes the list. Works with one connection per thread only, because each
-- call needs the response to the previous call.
local call, hotels, revisions, list = 1, {}, {}, ""
local function listed()
  local ids = #hotels == 0 and "" or '"' .. table.concat(hotels, '","') .. '"'
  return string.format('{"_rev":"%s","type":"bookmarkedhotels","hotels":[%s]}', list, ids)
end
function kinds.calls(at)
  local step, places = math.floor((call - 1) / 3), at.path .. "/bookmarkedhotels"
  local hotel, removing = string.format("%s-%d", plan.name, step % 50), math.floor(step / 50) % 2 == 1
  local path = at.path .. "/" .. hotel
  if call % 3 == 1 then return wrk.format("GET", places, at.headers) end
  if call % 3 == 0 then return wrk.format("PUT", places, at.headers, listed()) end
  if removing then return wrk.format("DELETE", path .. "?rev=" .. revisions[hotel], at.headers) end
  return wrk.format("PUT", path, at.headers, plan.body)
end

function next_call(status, headers, body)
  if call % 3 == 1 then
    list = body:match('"_rev":"([^"]+)"')
  elseif call % 3 == 2 then
    local hotel, revision = body:match('"id":"([^"]+)"'), body:match('"rev":"([^"]+)"')
    if not hotel then return end
    revisions[hotel] = revision
    if math.floor((call - 1) / 150) % 2 == 1 then table.remove(hotels, 1) else table.insert(hotels, hotel) end
  end
  call = call + 1
end

function request()
  local at = next_target()
  local text = kinds[plan.kind](at)
  made = made + 1
  return text
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%.1f,"p99":%.1f,"max":%.1f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
  for _, thread in ipairs(threads) do
    local refusal = thread:get("refusal")
    if refusal and refusal ~= "" then io.stderr:write(refusal, "\n") end
  end
end
