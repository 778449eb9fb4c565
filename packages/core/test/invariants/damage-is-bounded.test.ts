/**
 * Invariant of JRN-9: one flipped bit anywhere in the files of a conversation costs at most the line it is in, and every change of the view
 * is reported. A damaged message is missing, and every other one is present, in order. A damaged decision is ignored. A boundary or the end
 * of a compaction is rebuilt from the lines around it. Damage of index and checkpoint costs nothing.
 */
import { copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { seededIds } from "../../src/base/clock.ts"
import { type Conversation, engineOf } from "../../src/conversation/conversation.ts"
import type { Entry } from "../../src/journal/entries.ts"
import { fileStore } from "../../src/journal/file/file-store.ts"
import { type JournalPaths, journalPaths } from "../../src/journal/file/layout.ts"
import { decodeLine } from "../../src/journal/line.ts"
import { serialiseRequest } from "../../src/views/context/request.ts"
import { decidingLayer } from "../deciding-layer.ts"
import { temporaryRoot } from "../journal-files.ts"
import { EDITS_CACHES, openTestConversation } from "../open.ts"
import { size } from "../size.ts"
import { decidedConversations, newPlayer, play, type Step } from "../steps.ts"

const FLIPS = process.env.FUZZ_RUNS === undefined ? size(10, 60) : 1_000
const FLIPS_EACH = 10
const FILES = ["journal", "journal", "journal", "index", "checkpoint"] as const

let root: string
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ root, remove } = await temporaryRoot())
})
afterAll(() => remove())

const pathsOf = (directory: string): JournalPaths => journalPaths(directory, { project: "-nowhere", id: "test" })

const openIn = (directory: string, seed: string, layer = decidingLayer()): Promise<Conversation> =>
  openTestConversation({
    store: fileStore({ root: directory, flush: "never" }),
    ids: seededIds(seed),
    layers: [layer],
    settings: EDITS_CACHES,
  })

async function written(directory: string, steps: readonly Step[]): Promise<void> {
  const layer = decidingLayer()
  const chat = await openIn(directory, directory, layer)
  const player = newPlayer(layer)
  chat.on("entry", ({ entry }) => entry.type === "strata" && layer.decided(entry.uuid))
  for (const step of steps) await play(chat, step, player)
  await chat.close()
}

/** The parts of a conversation that the user and the model see. */
function seen(chat: Conversation) {
  const { context } = engineOf(chat).views
  return {
    messages: context.storedMessages().map(({ uuid }) => uuid),
    waiting: context.queued.map(({ uuid }) => uuid),
    words: chat.userMessages().messages.map(({ uuid }) => uuid),
  }
}

/** The entry that contains a byte; undefined for a line end. */
function entryAt(bytes: Buffer, at: number): Entry | undefined {
  if (bytes[at] === 0x0a) return undefined
  const start = at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1
  const decoded = decodeLine(bytes.subarray(start, bytes.indexOf(0x0a, at)))
  return decoded.state === "whole" ? decoded.entry : undefined
}

const without = (uuids: readonly string[], uuid: string | undefined) => uuids.filter((each) => each !== uuid)

test("JRN-9 a flipped bit costs at most the line it is in, is reported if it changes the view, and gives the same request at every opening", async () => {
  const flip = fc.record({
    file: fc.constantFrom(...FILES),
    at: fc.noBias(fc.nat(2 ** 30 - 1)).map((n) => n / 2 ** 30),
    bit: fc.nat(7),
    withIndex: fc.nat(3).map((n) => n > 0),
  })
  let number = 0
  let changed = 0
  await fc.assert(
    fc.asyncProperty(
      decidedConversations,
      fc.array(flip, { minLength: FLIPS_EACH, maxLength: FLIPS_EACH }),
      async (steps, flips) => {
        const whole = join(root, `whole-${number++}`)
        await written(whole, steps)
        await using chat = await openIn(whole, "resumed")
        const before = seen(chat)
        await chat.close()
        for (const [round, { file, at, bit, withIndex }] of flips.entries()) {
          const directory = `${whole}-${round}`
          await mkdir(dirname(pathsOf(directory).journal), { recursive: true })
          for (const each of ["journal", "index", "checkpoint"] as const)
            if (withIndex || each !== "index")
              await copyFile(pathsOf(whole)[each], pathsOf(directory)[each]).catch(() => undefined)
          const path = pathsOf(directory)[file]
          const bytes = await readFile(path).catch(() => Buffer.alloc(0))
          if (bytes.length === 0) continue
          const place = Math.floor(at * bytes.length)
          const hit = file === "journal" ? entryAt(bytes, place) : undefined
          bytes[place] = bytes[place]! ^ (1 << bit)
          await writeFile(path, bytes)

          await using opened = await openIn(directory, "resumed")
          const after = seen(opened)
          const { damagedCount, checkpoint } = opened.openResult
          const isSame = JSON.stringify(after) === JSON.stringify(before)
          if (!isSame) changed++
          const context = `${file} byte ${place} bit ${bit} of ${directory}: ${hit?.type} ${(hit as { subtype?: string })?.subtype}`
          if (!isSame) expect(damagedCount, context).toBeGreaterThan(0)
          if (file === "checkpoint") expect([checkpoint, isSame], context).toEqual(["damaged", true])
          if (hit === undefined) expect(after, context).toEqual(before)
          else if (hit.type === "system") {
            // these boundaries have no `compacted` after them, which repeats their tail
            expect(before.messages, context).toEqual(expect.arrayContaining(after.messages))
            expect(after.words, context).toEqual(before.words)
          } else if (hit.type !== "strata") {
            // the last two bytes of a line contain no data, and a checkpoint may contain user messages from before the damage
            expect([before.messages, without(before.messages, hit.uuid)], context).toContainEqual(after.messages)
            expect([before.words, without(before.words, hit.uuid)], context).toContainEqual(after.words)
          } else if (hit.subtype === "delivered")
            expect([...after.messages, ...after.waiting].sort(), context).toEqual(
              [...before.messages, ...before.waiting].sort(),
            )
          else if (hit.subtype !== "rewound") expect(after, context).toEqual(before)

          const body = !engineOf(opened).views.context.isEmpty ? serialiseRequest(await opened.prepare()) : ""
          await opened.close()
          const aside = await stat(pathsOf(directory).quarantine).catch(() => undefined)
          await using again = await openIn(directory, "again")
          // a rebuilt checkpoint already accounts for the damage
          if (!isSame && again.openResult.read === opened.openResult.read)
            expect(again.openResult.damagedCount, context).toBeGreaterThan(0)
          if (body !== "") expect(serialiseRequest(await again.prepare()), context).toBe(body)
          await again.close()
          const asideAgain = await stat(pathsOf(directory).quarantine).catch(() => undefined)
          expect(asideAgain?.size, context).toBe(aside?.size)
        }
      },
    ),
    { numRuns: FLIPS / FLIPS_EACH, endOnFailure: true },
  )
  expect(changed).toBeGreaterThan(FLIPS / 20) // enough of them have an effect
})
