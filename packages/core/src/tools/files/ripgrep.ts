/**
 * Runs ripgrep and reads its output line by line. It is killed when there is enough output, after a time limit, or when the signal aborts.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { optionalPackage } from "../../base/files.ts"

export interface RipgrepRun {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** The search is stopped after this many lines or characters. */
  readonly max: { readonly lines: number; readonly characters: number }
  /** Whether to omit a line. Omitted lines do not count towards the limits. */
  readonly skip?: (line: string) => boolean
}

export interface RipgrepOutput {
  readonly lines: readonly string[]
  /** Reason why the output may be incomplete. */
  readonly stopped?: "enough" | "time"
  /** Error message of ripgrep about an invalid pattern or option. */
  readonly problem?: string
}

const MAX_PROBLEM_CHARACTERS = 2_000
const EXIT_PROBLEM = 2

/** Path of the ripgrep program. It is an optional dependency that only applications with file search install. */
export async function ripgrepProgram(): Promise<string> {
  const { rgPath } = await optionalPackage<typeof import("@vscode/ripgrep")>("@vscode/ripgrep", "Grep needs")
  return rgPath
}

export async function runRipgrep(run: RipgrepRun): Promise<RipgrepOutput> {
  const { program, args, cwd, env, signal, timeoutMs } = run
  signal.throwIfAborted()
  const tooLong = AbortSignal.timeout(timeoutMs)
  const stop = AbortSignal.any([signal, tooLong])
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  const kill = () => child.kill("SIGKILL")
  stop.addEventListener("abort", kill, { once: true })
  let problem = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    problem = (problem + text).slice(0, MAX_PROBLEM_CHARACTERS)
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve)
  })
  try {
    const [{ lines, isEnough }, code] = await Promise.all([takeLines(child, run), ended])
    signal.throwIfAborted()
    if (isEnough) return { lines, stopped: "enough" }
    if (tooLong.aborted) return { lines, stopped: "time" }
    return code === EXIT_PROBLEM && problem !== "" ? { lines, problem: problem.trim() } : { lines }
  } finally {
    stop.removeEventListener("abort", kill)
  }
}

async function takeLines(child: ChildProcessByStdio<null, Readable, Readable>, { max, skip }: RipgrepRun) {
  const lines: string[] = []
  let characters = 0
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (skip?.(line)) continue
    if (lines.length === max.lines || characters + line.length > max.characters) {
      child.kill("SIGKILL")
      child.stdout.destroy() // an unread pipe would prevent it from exiting
      return { lines, isEnough: true }
    }
    lines.push(line)
    characters += line.length + 1
  }
  return { lines, isEnough: false }
}
