/** Runs a program to its end and returns what it printed. If it fails, throws an error with its output. */
import { spawnSync } from "node:child_process"

const MAX_MS = 120_000

export function runToEnd(
  program: string,
  args: readonly string[],
  { cwd, env = process.env }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: MAX_MS,
    env,
    ...(cwd === undefined ? {} : { cwd }),
  })
  if (error) throw error
  if (status === 0) return stdout
  throw new Error(`${[program, ...args].join(" ")} ended with ${status}:\n${stdout}${stderr}`)
}
