import { expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { usageOf } from "../../../test/ledger-entries.ts"
import { Views } from "../../views/views.ts"
import { cacheState } from "./cache-state.ts"

const START = Date.parse("2026-01-01T00:00:00.000Z")
const FINE = { used: 1, percentLeft: 99, state: "fine" } as const

test.each([
  ["five minutes", { write: 900 }, 5],
  ["an hour", { write1h: 900, read: 5_000 }, 60],
])(
  "L2-10 a cache that was written for %s is warm as long, and clearing in it is not free",
  (_name, billing, minutes) => {
    const views = new Views({ family: "claude-4" })
    for (const message of conversation()
      .user("go")
      .say("so", { usage: usageOf(billing) }).messages)
      views.apply(message)
    const at = (minute: number) =>
      cacheState({ views, model: "claude-opus-4-6", now: new Date(START + minute * 60_000), fill: FINE }).state
    expect([at(minutes), at(minutes + 0.1)]).toEqual(["warm", "cold"])
  },
)
