/**
 * Many processes write to one mailbox and others read it, while some of them are killed at random and restarted. Every reader must have
 * received every message once, in the order of its sender.
 */
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { fileStore } from "../src/journal/file/file-store.ts"
import { teamDirectory } from "../src/journal/file/layout.ts"
import { segmentsIn } from "../src/journal/file/mailbox-log.ts"
import { lastReceived } from "./mailbox-journal.ts"

const WORKER = fileURLToPath(new URL("./mailbox-worker.ts", import.meta.url))

export interface Stress {
  readonly root: string
  readonly writers: number
  /** Number of messages of each writer. */
  readonly messages: number
  readonly readers: number
  readonly kills: number
  /** Returns a number from 0 to 1 on each call. */
  readonly random: () => number
}

export interface StressResult {
  readonly ms: number
  readonly deliveries: number
  readonly kills: { readonly writers: number; readonly readers: number }
  /** Segments of the log at the end: those that remain, and the total. */
  readonly segments: { readonly left: number; readonly all: number }
  /** Messages that were lost, repeated or out of order, as sentences. */
  readonly wrong: readonly string[]
}

export async function runStress(stress: Stress): Promise<StressResult> {
  const { root, writers, messages, readers } = stress
  const start = performance.now()
  const tasks = [
    ...Array.from({ length: readers }, (_, at) => ["read", root, `reader-${at}`, String(writers * messages), "0"]),
    ...Array.from({ length: writers }, (_, at) => ["write", root, `writer-${at}`, String(messages), String(readers)]),
  ]
  const lives = livesOf(tasks.length, stress)
  const killed = await Promise.all(tasks.map((task, at) => runTask(task, lives[at]!)))
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  const kills = { readers: sum(killed.slice(0, readers)), writers: sum(killed.slice(readers)) }
  const ms = performance.now() - start
  const segments = await segmentsIn(teamDirectory(root, { project: "p", team: "stress" }))
  const wrong = (await Promise.all(Array.from({ length: readers }, (_, at) => wrongIn(`reader-${at}`, stress)))).flat()
  return {
    ms,
    deliveries: writers * messages * readers,
    kills,
    segments: { left: segments.length, all: segments.at(-1) ?? 0 },
    wrong,
  }
}

/** For each process, the fractions of its work after which it is killed, one per run. */
function livesOf(processes: number, { kills, random }: Stress): readonly number[][] {
  const lives: number[][] = Array.from({ length: processes }, () => [])
  const longest = 1 / (1 + kills / processes)
  for (let kill = 0; kill < kills; kill++) lives[Math.floor(random() * processes)]!.push(random() * longest)
  return lives
}

/** Runs a worker until it has done its work, and kills it after each of these fractions. Returns the number of kills. */
async function runTask(task: readonly string[], lives: readonly number[]): Promise<number> {
  for (const [kills, life] of [...lives, NEVER].entries())
    if ((await runOnce([...task, String(life)])) === "done") return kills
  throw new Error("the last life must end with the work")
}

const NEVER = 2 // a fraction of the work that is never reached

function runOnce(task: readonly string[]): Promise<"done" | "killed"> {
  const child = spawn(process.execPath, [WORKER, ...task], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "strata-test-compile-cache") },
    stdio: ["ignore", "inherit", "inherit"],
  })
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve("killed")
      else if (code === 0) resolve("done")
      else reject(new Error(`${task.join(" ")} ended with ${code ?? signal}`))
    })
  })
}

async function wrongIn(reader: string, { root, writers, messages }: Stress): Promise<readonly string[]> {
  const journal = await fileStore({ root }).open({ project: "p", id: reader }, { access: "read" })
  const { bySender } = await lastReceived(journal)
  await journal.close()
  return Array.from({ length: writers }, (_, at) => `writer-${at}`).flatMap((writer) => {
    const sequences = bySender.get(writer) ?? []
    const at = sequences.findIndex((sequence, index) => sequence !== index + 1)
    if (at >= 0) return [`${reader} received message ${sequences[at]} of ${writer} in place of ${at + 1}`]
    return sequences.length === messages ? [] : [`${reader} received ${sequences.length} messages of ${writer}`]
  })
}
