/** Runs `strata` like a user: as a separate process with an empty home. */
import { type SpawnOptions, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { inject } from "vitest"

/** The bundled program, which starts in a third of the time of its sources. */
export const MAIN = join(inject("bundle"), "cli", "dist", "main.js")

/** The program in the workspace. */
export const SOURCE = join(import.meta.dirname, "..", "src", "main.ts")

/** Compile cache shared by all test processes, which would otherwise compile the same files again. */
export const COMPILE_CACHE = join(inject("bundle"), "compile-cache")

export interface ProcessResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Place {
  readonly cwd: string
  readonly env: Record<string, string>
  remove(): void
}

/** A directory to work in, a home and a temporary directory, all empty. */
export function emptyPlace(): Place {
  const root = mkdtempSync(join(tmpdir(), "strata-cli-test-"))
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: root,
    STRATA_HOME: join(root, "strata-home"),
    TMPDIR: root,
    TERM: "xterm-256color",
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  }
  return { cwd: root, env, remove: () => rmSync(root, { recursive: true, force: true }) }
}

export function strata(args: readonly string[], { cwd, env }: Pick<Place, "cwd" | "env">): Promise<ProcessResult> {
  return runProcess([process.execPath, MAIN, ...args], { cwd, env })
}

export function runProcess([program, ...args]: readonly string[], options: SpawnOptions): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    child.stdout?.on("data", (data: Buffer) => {
      stdout += data
    })
    child.stderr?.on("data", (data: Buffer) => {
      stderr += data
    })
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, stdout, stderr }))
  })
}
