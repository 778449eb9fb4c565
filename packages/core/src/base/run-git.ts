/** Runs git so that nothing of the repository's own runs with it: no hooks, no monitor, no pager. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"

export interface GitCall {
  readonly args: readonly string[]
  /** The directory to run it in. */
  readonly at: string
  /** Everything that git sees of the environment. */
  readonly env: Readonly<Record<string, string>>
  readonly mostOutputBytes: number
  readonly input?: Buffer
  readonly signal?: AbortSignal | undefined
  /** In milliseconds. Default: it may take as long as it needs. */
  readonly timeout?: number
}

/** Commits need a name and no signature. */
const SAFE = [
  ...["--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"],
  ...["-c", "user.name=Strata", "-c", "user.email=strata@localhost"],
]

/** What git printed. Rejects with the error of `execFile`, which has what git complained about in `stderr`. */
export async function runGit({ args, at, env, mostOutputBytes, input, signal, timeout = 0 }: GitCall): Promise<Buffer> {
  const run = promisify(execFile)("git", [...SAFE, ...args], {
    ...{ cwd: at, env, timeout, maxBuffer: mostOutputBytes, encoding: "buffer", killSignal: "SIGKILL" },
    ...(signal ? { signal } : {}),
  })
  run.child.stdin?.on("error", () => undefined) // git may end before it has read everything
  run.child.stdin?.end(input ?? "")
  return (await run).stdout
}
