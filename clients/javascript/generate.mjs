// Writes the types of the mailbox's routes from the hub's OpenAPI document.
// Usage: generate.mjs FILE < openapi.json

import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const MAILBOX = /^\/(a2a|capabilities|audit)\//;
const OTHER_DIALECTS = /^\/a2a\/(inboxes|registry|tasks\/send|tasks\/\{task_id\}$)/;
const METHODS = ["get", "post", "delete"];
const NOTE = "// Written by `make client-types` from the hub's OpenAPI document. Do not edit.\n\n";

function mailboxOf(document) {
  const named = Object.entries(document.paths).filter(([path]) => MAILBOX.test(path) && !OTHER_DIALECTS.test(path));
  const paths = Object.fromEntries(named.map(([path, item]) => [path, withAnswers(item)]));
  return { ...document, paths, components: { schemas: schemasOf(paths, document.components.schemas) } };
}

/** The operations of a path with their answers of success: the client has a table of errors. */
function withAnswers(item) {
  const operations = METHODS.filter((method) => method in item).map((method) => {
    const { security: _, operationId: __, ...operation } = item[method];
    return [method, { ...operation, responses: { 200: operation.responses["200"] } }];
  });
  return Object.fromEntries(operations);
}

/** The schemas that `value` refers to, and those that they refer to. */
function schemasOf(value, all, found = {}) {
  for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (!(name in found)) {
      found[name] = all[name];
      schemasOf(all[name], all, found);
    }
  }
  return found;
}

/** Bodies without their examples, since each of their fields has one. */
function withoutWholeExamples(key, value) {
  return key === "application/json" ? { schema: value.schema } : value;
}

const file = process.argv[2] ?? "src/openapi.ts";
const document = mailboxOf(JSON.parse(readFileSync(0, "utf8"), withoutWholeExamples));
writeFileSync(file, NOTE + astToString(await openapiTS(document, { defaultNonNullable: false, silent: true })));
