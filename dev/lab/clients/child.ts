/** Child processes of the command `clients`, with a minimal environment, their own home and a time limit. */
import { spawn } from "node:child_process"
import { dirname } from "node:path"

const MAX_OUTPUT = 10_000_000 // characters

export interface ChildOptions {
  readonly cwd: string
  /** The child's entire environment, apart from PATH. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Standard input of the child, which ends when its output matches `until`. Default: empty. */
  readonly input?: { readonly text: string; readonly until: RegExp } | undefined
}

export interface ChildResult {
  /** Exit code. `null` if the child was stopped. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export function runChild([program, ...words]: readonly string[], options: ChildOptions): Promise<ChildResult> {
  const { cwd, env, timeoutMs, input } = options
  return new Promise((resolve) => {
    const child = spawn(program!, words, {
      cwd,
      env: { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // its own process group, so that processes started by the client end with it
    })
    const texts = { stdout: "", stderr: "" }
    child.stdin.on("error", () => {}) // a child may exit before it reads its input
    if (input) child.stdin.write(input.text)
    else child.stdin.end()
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (chunk) => {
        if (texts[name].length < MAX_OUTPUT) texts[name] += chunk
        if (input?.until.test(texts.stdout)) child.stdin.end()
      })
    }
    const end = (code: number | null, why = "") => {
      clearTimeout(timer)
      if (child.pid) stopGroup(child.pid)
      resolve({ code, ...texts, stderr: texts.stderr + why })
    }
    const timer = setTimeout(() => end(null, `\nno end after ${timeoutMs / 1000} s`), timeoutMs)
    child.once("error", (error) => end(1, error.message))
    child.once("close", (code) => end(code))
  })
}

function stopGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // the process group has already ended
  }
}
