/**
 * Measures the processor time that memory adds to `prepare`, in projects with no, some and many memories and past conversations. The first
 * message of a process reads stored memory from disk; that of a later conversation finds it open.
 */

import { spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { localUser, openConversation } from "@strata/core"
import type { MemoryDraft } from "@strata/core/memory"
import { projectName, seededIds } from "../../../packages/core/src/base/clock.ts"
import { fileStore } from "../../../packages/core/src/journal/file/file-store.ts"
import { openBank } from "../../../packages/core/src/memory/bank.ts"
import { journalSearchIn } from "../../../packages/core/src/recall/journal-search.ts"
import { makeDialogue } from "../../lab/memory-questions/dialogues.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "../measure.ts"

const COUNTS = isShort ? [0, 60] : [0, 60, 1_500, 10_000]
const MAX_JOURNALS = 1_000
const TURNS_PER_JOURNAL = 20
const TURNS = isShort ? 20 : 100
const FIRSTS = 5
/** Number of turns before the measurement, so that the code is warm and background reading is done. */
const WARM = 20

const clock = { now: () => new Date("2026-01-10T00:00:00.000Z") }

interface Project {
  readonly root: string
  readonly cwd: string
}

/** Returns the processor time of a function in milliseconds. */
export async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function dialogues(turns: number): { readonly statements: readonly string[]; readonly questions: readonly string[] } {
  const [statements, questions]: [string[], string[]] = [[], []]
  for (let seed = 1; statements.length < turns || questions.length === 0; seed++) {
    const dialogue = makeDialogue({ seed, about: seed % 2 ? "project" : "everyday", part: "held-out" })
    statements.push(...dialogue.turns.map(({ text }) => text))
    questions.push(...dialogue.questions.map(({ text }) => text))
  }
  return { statements, questions }
}

async function fill({ root, cwd }: Project, count: number, statements: readonly string[]): Promise<void> {
  mkdirSync(cwd, { recursive: true })
  const store = fileStore({ root, flush: "never" })
  const project = projectName(cwd)
  const ids = seededIds("bench")
  for (let at = 0; at < Math.min(count, MAX_JOURNALS); at++) {
    const sessionId = `c${at}`
    const journal = await store.open({ project, id: sessionId }, { access: "write", create: true })
    const place = { type: "user", parentUuid: null, timestamp: clock.now().toISOString(), sessionId }
    const entries = statements
      .slice(at * TURNS_PER_JOURNAL, (at + 1) * TURNS_PER_JOURNAL)
      .map((content) => ({ ...place, uuid: ids.uuid(), message: { role: "user", content } }))
    await journal.append(entries as unknown as Parameters<typeof journal.append>[0])
    await journal.close()
  }
  if (count === 0) return
  const puts = Array.from({ length: count }, (_, at): MemoryDraft => {
    const body = `${statements[(at * 7) % statements.length]!} (${at})`
    return { name: `Memory ${at}`, description: body.slice(0, 60), type: at % 20 ? "project" : "feedback", body }
  })
  const bank = openBank({ files: store.memories({ project }), clock })
  await bank.change({ by: "extraction", why: "bench", source: { saidBy: "user" }, puts })
  const journals = journalSearchIn(store, { project })
  await journals.update()
  journals.close()
}

/** Returns the processor time of each `prepare` of a conversation. */
async function prepared({ root, cwd }: Project, memory: "auto" | "off", questions: readonly string[]) {
  const env = { ...process.env, STRATA_AUTO_MEMORY: "off" } // extraction after a turn is measured elsewhere
  const owned = { memory: { owner: localUser }, settings: { memory } } as const
  const chat = await openConversation({ model: "claude-opus-5-5", dir: root, cwd, ...owned, env })
  const times: number[] = []
  for (const [at, question] of questions.entries()) {
    await chat.add(question)
    times.push(await processorTime(() => chat.prepare()))
    const content = [{ type: "text", text: `Noted, ${at}.` }]
    const answer = { id: `m${at}`, type: "message", role: "assistant", model: "claude-opus-5-5", content }
    const usage = { input_tokens: 10, output_tokens: 5 }
    await chat.record({ ...answer, stop_reason: "end_turn", usage } as unknown as Parameters<typeof chat.record>[0])
  }
  await chat.close()
  return times
}

/** Measures the first message of a new process, which loads the code as well. */
function firstOfProcess({ root, cwd }: Project, memory: string): number {
  const { stdout } = spawnSync(process.execPath, [import.meta.filename, root, cwd, memory], { encoding: "utf8" })
  return Number(stdout)
}

const median = (times: readonly number[]) => quantile(times, 0.5)

export async function memoryTurnReport(): Promise<string> {
  return inTemporaryDirectory(async (directory) => {
    const { statements, questions } = dialogues(Math.min(Math.max(...COUNTS), MAX_JOURNALS) * TURNS_PER_JOURNAL)
    const asked = Array.from({ length: WARM + TURNS }, (_, at) => questions[(at * 7) % questions.length]!)
    const lines = ["What memory adds to `prepare`, processor time"]
    for (const count of COUNTS) {
      const project = { root: join(directory, `${count}`, "store"), cwd: join(directory, `${count}`, "work") }
      await fill(project, count, statements)
      await prepared(project, "auto", asked.slice(0, WARM))
      const [on, off] = [await prepared(project, "auto", asked), await prepared(project, "off", asked)]
      const inProcess = (memory: string) => Array.from({ length: FIRSTS }, () => firstOfProcess(project, memory))
      const ofProcess = median(inProcess("auto")) - median(inProcess("off"))
      const firsts = { auto: [] as number[], off: [] as number[] }
      for (let nth = 0; nth < FIRSTS; nth++)
        for (const memory of ["auto", "off"] as const)
          firsts[memory].push((await prepared(project, memory, asked.slice(nth, nth + 1)))[0]!)
      const later = on.slice(WARM)
      lines.push(
        `  ${count} memories, ${Math.min(count, MAX_JOURNALS)} past conversations: ${milliseconds(ofProcess)} to the first of a process with its code, ${milliseconds(median(firsts.auto) - median(firsts.off))} to the first of a later conversation, ${milliseconds(median(later) - median(off.slice(WARM)))} to a later one (p95 ${milliseconds(quantile(later, 0.95) - median(off.slice(WARM)))})`,
      )
    }
    return lines.join("\n")
  })
}

if (import.meta.main) {
  const [root, cwd, memory] = process.argv.slice(2) as [string, string, "auto" | "off"]
  const [first] = await prepared({ root, cwd }, memory, ["Which port does the staging server use, and who is on call?"])
  console.log(first)
}
