/** What memory adds to a turn, in processor time: a project with many memories and many past conversations. */

import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { MemoryDraft } from "@strata/core/internal"
import { projectName, seededIds } from "@strata/core/internal/base/ids"
import { localPerson } from "@strata/core/internal/base/owner"
import { openProjectMemory } from "@strata/core/internal/conversation/project-memory"
import { fileStore } from "@strata/core/internal/journal/file/file-store"
import { openBank } from "@strata/core/internal/memory/bank"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "../../core/bench/measure.ts"
import { makeDialogue } from "../src/memory-questions/dialogues.ts"

const COUNT = isShort ? 100 : 1_000
const TURNS_PER_JOURNAL = 20
const TURNS = isShort ? 20 : 100

const clock = { now: () => new Date("2026-01-10T00:00:00.000Z") }

/** Processor time of some work, in milliseconds. */
async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

export async function memoryTurnReport(): Promise<string> {
  return inTemporaryDirectory(async (directory) => {
    const [root, cwd] = [join(directory, "store"), join(directory, "work")]
    mkdirSync(cwd)
    const store = fileStore({ root, flush: "never" })
    const project = projectName(cwd)
    const ids = seededIds("bench")
    const said: string[] = []
    const questions: string[] = []
    for (let seed = 1; said.length < COUNT * TURNS_PER_JOURNAL; seed++) {
      const dialogue = makeDialogue({ seed, about: seed % 2 ? "project" : "everyday", part: "held-out" })
      said.push(...dialogue.turns.map(({ text }) => text))
      questions.push(...dialogue.questions.map(({ text }) => text))
    }
    for (let at = 0; at < COUNT; at++) {
      const journal = await store.open({ project, id: `c${at}` }, { access: "write", create: true })
      const texts = said.slice(at * TURNS_PER_JOURNAL, (at + 1) * TURNS_PER_JOURNAL)
      const entries = texts.map((content) => ({
        ...{
          type: "user",
          uuid: ids.uuid(),
          parentUuid: null,
          timestamp: clock.now().toISOString(),
          sessionId: `c${at}`,
        },
        message: { role: "user", content },
      }))
      await journal.append(entries as unknown as Parameters<typeof journal.append>[0])
      await journal.close()
    }
    const puts = Array.from({ length: COUNT }, (_, at): MemoryDraft => {
      const body = said[at * 7]!
      return { name: `Memory ${at}`, description: body.slice(0, 60), type: "project", body }
    })
    await openBank({ files: store.memories!({ project }), clock }).change({
      by: "extraction",
      why: "bench",
      source: { saidBy: "user" },
      puts,
    })
    const options = { store, owner: localPerson, cwd, mode: "auto", clock, root } as const
    const ask = (memory: NonNullable<Awaited<ReturnType<typeof openProjectMemory>>>, at: number) =>
      memory.recall({ text: questions[(at * 7) % questions.length]!, now: clock.now() })
    const fresh = (await openProjectMemory(options))!
    const first = await processorTime(() => ask(fresh, 0))
    // the first one starts to index in the background
    for (let at = 0; at < 400; at++) await new Promise((resolve) => setTimeout(resolve, 20)).then(() => undefined)
    const times: number[] = []
    for (let at = 1; at <= TURNS; at++) times.push(await processorTime(() => ask(fresh, at)))
    fresh.close()
    const again = (await openProjectMemory(options))!
    const reopened = await processorTime(() => ask(again, 0))
    again.close()
    return [
      `${COUNT} memories and ${COUNT} past conversations, processor time`,
      `  the first message: ${milliseconds(first)}; with an index from before: ${milliseconds(reopened)}`,
      `  a message: median ${milliseconds(quantile(times, 0.5))}, p95 ${milliseconds(quantile(times, 0.95))}`,
    ].join("\n")
  })
}
