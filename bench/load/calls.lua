-- What one client sends, by wrk. Arguments: the call, the token, a document for each thread, a name for the run.
local number = 0

function setup(thread)
  number = number + 1
  thread:set("place", number)
end

function init(args)
  call, token, run = args[1], args[2], args[4]
  documents = {}
  for id in args[3]:gmatch("[^,]+") do
    table.insert(documents, id)
  end
  own = documents[(place - 1) % #documents + 1]
  count, version = 0, 1
  wrong = 0
  headers = { ["authorization"] = "Bearer " .. token, ["content-type"] = "application/json" }
end

function request()
  count = count + 1
  if call == "create" then
    local body = '{"entity_type":"invoice","data":{"number":"' .. run .. "-" .. place .. "-" .. count
      .. '","vendor_id":"V-1","invoice_date":"2026-01-01","grand_total":1}}'
    return wrk.format("POST", "/v1/documents", headers, body)
  elseif call == "patch" then
    headers["if-match"] = '"' .. version .. '"'
    local body = '{"patch":{"grand_total":' .. count .. "}}"
    return wrk.format("PATCH", "/v1/documents/" .. own, headers, body)
  elseif call == "inbox" then
    return wrk.format("GET", "/v1/approvals?limit=50", headers)
  end
  return wrk.format("GET", "/v1/documents/" .. own, headers)
end

function response(status, sent, body)
  if status >= 300 then
    wrong = wrong + 1
  elseif call == "patch" then
    version = version + 1
  end
end

function done(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(95), failed))
end
