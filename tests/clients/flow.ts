// A flow on the generated TypeScript types, with these alone: publish, create, list, ask, decide, read.
// It is given the address of the API, and a token of each person.
import createClient from "openapi-fetch";
import type { components, paths } from "./signet_api.js";

type Document = components["schemas"]["Applied"];
type InboxItem = components["schemas"]["InboxItem"];

const WAIT_SECONDS = 60;
const [url = "", samToken, adaToken, carlToken, fionaToken] = process.argv.slice(2);

function connect(token: string | undefined) {
  return createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
}

function check(holds: boolean, about: unknown): asserts holds {
  if (!holds) throw new Error(`unexpected: ${JSON.stringify(about)}`);
}

async function waitFor<T>(find: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + WAIT_SECONDS * 1000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    check(Date.now() < deadline, "it did not come");
    await new Promise((go) => setTimeout(go, 50));
  }
}

const sam = connect(samToken);
const ada = connect(adaToken);
const carl = connect(carlToken);
const fiona = connect(fionaToken);
const seen = { "If-Match": '"1"' };

async function publish(): Promise<void> {
  const used = await sam.POST("/v1/templates/{template}/use", { params: { path: { template: "invoice" } } });
  check(used.data !== undefined && used.data.contract !== null, used.error);
  const { entity_type, version } = used.data.contract;
  const meant = await sam.POST("/v1/contracts/{entity_type}/versions/{version}/put_forward", {
    params: { path: { entity_type, version }, header: seen },
  });
  check(meant.data !== undefined, meant.error);
  const contract = await ada.POST("/v1/contracts/{entity_type}/versions/{version}/publish", {
    params: { path: { entity_type, version }, header: seen },
  });
  check(contract.data !== undefined, contract.error);
  const [draft] = used.data.definitions;
  check(draft !== undefined, used.data);
  const forward = await sam.POST("/v1/definitions/{definition_id}/put_forward", {
    params: { path: { definition_id: draft.id }, header: seen },
  });
  check(forward.data !== undefined, forward.error);
  const definition = await ada.POST("/v1/definitions/{definition_id}/publish", {
    params: { path: { definition_id: draft.id }, header: seen },
  });
  check(definition.data !== undefined, definition.error);
}

async function create(): Promise<Document> {
  const body = {
    entity_type: "invoice",
    data: { number: "R-1", vendor_id: "V-100", invoice_date: "2026-11-18", grand_total: 260000 },
  };
  const made = await carl.POST("/v1/documents", { body, params: { header: { "Idempotency-Key": "first" } } });
  check(made.data !== undefined, made.error);
  const refused = await carl.POST("/v1/documents", { body });
  check(refused.error !== undefined && "code" in refused.error && refused.error.code === "KEY_TAKEN", refused);
  const page = await carl.GET("/v1/documents", { params: { query: { entity_type: "invoice", limit: 10 } } });
  check(page.data !== undefined && page.data.items[0]?.id === made.data.document_id, page);
  return made.data;
}

async function ask(document: Document): Promise<void> {
  const asked = await carl.POST("/v1/documents/{document_id}/requests", {
    params: {
      path: { document_id: document.document_id },
      header: { "If-Match": `"${document.version}"`, Prefer: "wait=5" },
    },
    body: { transition: "submit", reason: "agreed" },
  });
  check(asked.data !== undefined, asked.error);
}

async function findInInbox(document: Document): Promise<InboxItem | undefined> {
  const page = await fiona.GET("/v1/approvals", { params: { query: { entity_type: "invoice" } } });
  check(page.data !== undefined, page.error);
  return page.data.items.find((item) => item.document_id === document.document_id);
}

async function decide(item: InboxItem): Promise<void> {
  const params = { path: { approval_id: item.request_id } };
  const shown = await fiona.GET("/v1/approvals/{approval_id}", { params });
  check(shown.data !== undefined && item.may_decide && item.title === "R-1", shown.error);
  const body = { vote: "approved", reason: "seen" } as const;
  const refused = await carl.POST("/v1/approvals/{approval_id}/decision", { params, body });
  check(refused.error !== undefined && "status" in refused.error && refused.error.status === 403, refused);
  const decided = await fiona.POST("/v1/approvals/{approval_id}/decision", { params, body });
  check(decided.data?.request_status === "approved", decided.error);
  const page = await fiona.GET("/v1/approvals/decided");
  check(page.data?.items[0]?.request_id === item.request_id, page.error);
}

async function findActive(document: Document) {
  const params = { path: { document_id: document.document_id } };
  const read = await carl.GET("/v1/documents/{document_id}", { params });
  check(read.data !== undefined, read.error);
  return read.data.status === "active" ? read.data : undefined;
}

await publish();
const document = await create();
await ask(document);
await decide(await waitFor(() => findInInbox(document)));
const ended = await waitFor(() => findActive(document));
console.log(`active at version ${ended.version}`);
