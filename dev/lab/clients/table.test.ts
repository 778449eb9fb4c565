import { expect, test } from "vitest"
import { clientsTable } from "./table.ts"

test("BEY-8 the table names each client, what was run, and why a row does not work", () => {
  const task = "a tool call"
  const table = clientsTable([
    { client: "pi", version: "1.5.0", task, result: "works", works: true, requests: 2, refused: 0 },
    { client: "Mastra", version: "latest", task, result: "not installed: no network", works: false },
  ])
  expect(table).toBe(
    `client  version  what was run  requests  refused  result
------  -------  ------------  --------  -------  -------------------------
pi      1.5.0    a tool call   2         0        works
Mastra  latest   a tool call                      not installed: no network

1 of 2 rows work.`,
  )
})
