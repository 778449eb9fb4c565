/** Random raw contents: the export of a store is compared with plain maps, and moved to another store and back. */
import assert from "node:assert/strict"
import { type ContentAddress, contentName, encodeLine, memoryStore, moveContents } from "@strata/core/store"
import { type Entries, entriesOf } from "../entries.ts"
import { type ContractClaim, type ContractFixture, upTo } from "../fixture.ts"
import { everythingIn } from "../parts/contents.ts"
import type { Random } from "../random.ts"

const STEPS = 40

const ADDRESSES: readonly ContentAddress[] = [
  ...["one", "two"].map((id) => ({ kind: "journal", project: "p", id }) as const),
  { kind: "journal", project: "p", under: "one", id: "agent" },
  { kind: "log", project: "p", name: "callers" },
  ...[
    { project: "p" },
    { project: "p_owner_1", collection: "dreams" } as const,
    { agent: "a", scope: "user" } as const,
  ].map((namespace) => ({ kind: "memories", namespace }) as const),
]

const FILES = {
  journal: ["notes", "blob/a.txt", "blob/b", "set-aside"],
  memories: ["a.md", "四/二.md", ".history/1.json", "MEMORY.md"],
}

/** Files by the name of their address and their own name. Logs have no file name. */
type Model = Map<string, Map<string, Buffer>>

function randomLine(random: Random, make: Entries): Buffer {
  const whole = encodeLine(random.chance(0.2) ? make.boundary() : make.user("x".repeat(random.below(200))))
  if (random.chance(0.6)) return whole
  const text = Buffer.from(whole)
  if (random.chance(0.5)) text[random.below(text.length - 1)] = random.pick([0, 255, 0x7b, 0x20])
  else return Buffer.from([...upTo(random.below(20)).map(() => random.pick([0, 1, 34, 123, 200, 255])), 0x0a])
  return text
}

async function step(fixture: ContractFixture, model: Model, make: Entries): Promise<string> {
  const { random } = fixture
  const contents = random.pick(fixture.handles).contents()
  const address = random.pick(ADDRESSES)
  const name = contentName(address)
  const kept = model.get(name) ?? new Map<string, Buffer>()
  if (random.chance(0.1)) {
    await contents.erase(address)
    model.delete(name)
    if (address.kind === "journal" && address.under === undefined)
      for (const other of [...model.keys()]) if (other.startsWith(`sub-agent p/${address.id}/`)) model.delete(other)
    return `erase ${name}`
  }
  const hasLines = address.kind === "journal" || address.kind === "log"
  const before = kept.get("") ?? Buffer.alloc(0)
  const added = Buffer.concat(upTo(random.below(4)).map(() => randomLine(random, make)))
  const lines = address.kind === "log" ? Buffer.from(added.toString("utf8")) : added
  const names = address.kind === "log" ? [] : FILES[address.kind as "journal"].filter(() => random.chance(0.4))
  const files = names.map((file) => ({ name: file, data: Buffer.from(`${random.below(9)} 四`), replaces: true }))
  if (!hasLines && files.length === 0) return "nothing"
  if (address.kind === "log" && lines.length === 0) return "nothing"
  const change = { ...(hasLines ? { lines: { at: before.length, data: lines } } : {}), files }
  await contents.write(address, change)
  if (hasLines) kept.set("", Buffer.concat([before, lines]))
  for (const { name: file, data } of files) kept.set(file, data)
  model.set(name, kept)
  return `write ${name} ${files.map((file) => file.name).join(" ")}`
}

function expected(model: Model): readonly (readonly [string, string])[] {
  const all = [...model].flatMap(([name, files]) =>
    [...files].map(([file, data]) => [file === "" ? `${name}:` : `${name}: ${file}`, data.toString("latin1")] as const),
  )
  return all.sort(([a], [b]) => (a < b ? -1 : 1))
}

const withoutTimes = (all: ReadonlyMap<string, string>) => [...all].filter(([name]) => !name.endsWith(": time"))

export const contentsModel: readonly ContractClaim[] = [
  [
    "BEY-12 random contents: a store gives out what plain maps hold, and another store gives it back",
    async (fixture) => {
      for (const run of upTo(fixture.runs)) {
        const make = entriesOf(`contents ${run}`)
        const model: Model = new Map()
        const done: string[] = []
        try {
          for (const _ of upTo(STEPS)) {
            done.push(await step(fixture, model, make))
            if (fixture.random.chance(0.2))
              assert.deepEqual(withoutTimes(await everythingIn(fixture.handle())), expected(model))
          }
          const before = await everythingIn(fixture.handle())
          const other = memoryStore()
          await moveContents({ from: fixture.handle(), to: other })
          assert.deepEqual([...(await everythingIn(other))], [...before])
          for (const address of ADDRESSES) await fixture.handle().contents().erase(address)
          await moveContents({ from: other, to: fixture.handle() })
          assert.deepEqual([...(await everythingIn(fixture.handle()))], [...before])
          for (const address of ADDRESSES) await fixture.handle().contents().erase(address)
        } catch (error) {
          if (error instanceof Error) error.message += `\nafter: ${done.join(", ")}`
          throw error
        }
      }
    },
  ],
]
