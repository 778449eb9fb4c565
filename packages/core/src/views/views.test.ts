import { expect, test } from "vitest"
import { conversation } from "../../test/builders.ts"
import type { Entry } from "../journal/entries.ts"
import { Views } from "./views.ts"

/** The entries, and a function that returns which of them were read since its last call. */
function watched(entries: readonly Entry[]): { readonly entries: readonly Entry[]; read(): readonly number[] } {
  const touched = new Set<number>()
  return {
    entries: entries.map(
      (entry, at) =>
        new Proxy(entry, {
          get(target, key) {
            touched.add(at)
            return Reflect.get(target, key)
          },
        }),
    ),
    read() {
      const read = [...touched]
      touched.clear()
      return read
    },
  }
}

test("L4-30 names that wait are read one by one as entries come in, never many at once", () => {
  const builder = conversation()
  for (let number = 0; number < 600; number++) builder.user(`Look at file_${number}.ts`).say(`It has load_${number}.`)
  const { entries, read } = watched(builder.messages)
  const views = new Views({ family: "claude-4" })
  let max = 0
  for (const [at, entry] of entries.entries()) {
    views.apply(entry)
    max = Math.max(max, read().filter((place) => place < at - 1).length)
  }
  expect(max).toBe(1)
  expect(views.names.said.has("load_599")).toBe(true)
  expect(read().length).toBeGreaterThan(1) // reading the names applies all waiting entries
})

test("L4-30 names can be read between turns, an entry at a time, and come out the same", () => {
  const builder = conversation()
  for (let number = 0; number < 100; number++) builder.user(`Look at file_${number}.ts`).say(`It has load_${number}.`)
  const { entries, read } = watched(builder.messages)
  const [ahead, asked] = [new Views({ family: "claude-4" }), new Views({ family: "claude-4" })]
  for (const [at, entry] of entries.entries()) {
    ahead.apply(entry)
    asked.apply(builder.messages[at]!)
  }
  expect(ahead.hasBacklog).toBe(true)
  const steps = ahead.catchUpTask()
  read()
  steps.next()
  expect(read().length).toBe(1)
  while (!steps.next().done);
  expect(ahead.hasBacklog).toBe(false)
  read()
  expect(ahead.names).toEqual(asked.names)
  expect(read()).toEqual([])
})
