/** Runs code blocks as a new user would: in a separate directory, with Node and `strata` on the path, against the simulator. */
import { execFile } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { helpfulResponder, type Simulator, startSimulator } from "@strata/sim"
import { isLibrary, publishedPackages } from "../build/packages.ts"
import type { CodeBlock } from "./code-blocks.ts"
import type { ProgramResult } from "./run-page.ts"

const TIMEOUT_MS = 120_000 // generous: two blocks share a slow machine

export interface Ran {
  readonly exitCode: number
  readonly output: string
  readonly cacheRead: number
  /** Requests that the simulator refused. */
  readonly refused: readonly string[]
}

export interface BlockContext {
  /** The files of the commands `strata` and `strata-sim`. */
  readonly programs: { readonly strata: string; readonly simulator: string }
  /** Working directory of the blocks, with the files that earlier blocks of the page saved. */
  readonly directory: string
}

/** Matches commands that would change the checkout, whose files the scratch directory is part of. */
const CHANGES_CHECKOUT = /\b(?:npm (?:ci|i|install|publish|update)|npx|git)\b/

/** Runs commands in a separate process. */
export async function runCommands(block: CodeBlock, context: BlockContext): Promise<Ran> {
  if (CHANGES_CHECKOUT.test(block.code))
    throw new Error(`${block.page}:${block.line} would change the checkout: mark it "not run", with the reason.`)
  const simulator = await startSimulator({ responder: helpfulResponder() })
  try {
    const args = ["--norc", "-eo", "pipefail", "-c", block.code]
    const env = { ...environment(context), ANTHROPIC_BASE_URL: simulator.url }
    return { ...(await execute({ program: "bash", args, cwd: context.directory, env })), ...seenBy(simulator) }
  } finally {
    await simulator.close()
  }
}

/** Runs the programs of one page one after another in one process. If that process fails, so does the last program. */
export async function runPrograms(blocks: readonly CodeBlock[], context: BlockContext): Promise<readonly Ran[]> {
  const simulators = await Promise.all(blocks.map(() => startSimulator({ responder: helpfulResponder() })))
  const results = join(context.directory, "results.json")
  try {
    const programs = blocks.flatMap((block, i) => [programFile(block, context.directory), simulators[i]!.url])
    const args = [join(import.meta.dirname, "run-page.ts"), results, ...programs]
    const whole = await execute({ program: process.execPath, args, cwd: context.directory, env: environment(context) })
    const ran = existsSync(results) ? (JSON.parse(readFileSync(results, "utf8")) as readonly ProgramResult[]) : []
    return blocks.map((_, i) => ({
      ...(ran[i] === undefined || (whole.exitCode !== 0 && i === blocks.length - 1) ? whole : ran[i]),
      ...seenBy(simulators[i]!),
    }))
  } finally {
    await Promise.all(simulators.map((simulator) => simulator.close()))
  }
}

/** Program files in a directory that `bundlePackages` has filled. */
export const bundledPrograms = (bundle: string): BlockContext["programs"] => ({
  strata: join(bundle, "cli/dist/main.js"),
  simulator: join(bundle, "sim/dist/main.js"),
})

function environment({ programs, directory }: BlockContext): Record<string, string> {
  return {
    PATH: [commands(programs, directory), dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
    HOME: directory,
    STRATA_HOME: join(directory, "strata-home"),
    ANTHROPIC_API_KEY: "none",
    NODE_COMPILE_CACHE: join(dirname(programs.strata), "compile-cache"),
    NO_COLOR: "1",
  }
}

function seenBy(simulator: Simulator): Pick<Ran, "cacheRead" | "refused"> {
  return {
    cacheRead: simulator.stats().total.cacheReadTokens,
    refused: simulator.log.filter(({ status }) => status !== 200).map((entry) => JSON.stringify(entry)),
  }
}

/** Creates files of a typical project for tools to read. */
export function layOut(directory: string): void {
  mkdirSync(join(directory, "src"), { recursive: true })
  writeFileSync(join(directory, "notes.txt"), "The port is 4010.\n")
  writeFileSync(join(directory, "src/add.ts"), "export const add = (a: number, b: number) => a - b\n")
  writeFileSync(join(directory, "large.log"), "2026-11-15 ok GET /index.html\n".repeat(10_000))
}

/** Writes a block as a program and returns its file. A fragment is put into the program around it. */
export function programFile({ code, plan, line }: CodeBlock, directory: string): string {
  const around = plan.kind === "run" && plan.around
  const frame = around ? readFileSync(join(import.meta.dirname, "around", `${around}.ts`), "utf8") : "// BLOCK"
  if (!frame.includes("// BLOCK")) throw new Error(`dev/docs/around/${around}.ts has no line "// BLOCK".`)
  const file = join(directory, `block-${line}.ts`)
  writeFileSync(
    file,
    frame.replace("// BLOCK", () => code),
  )
  return file
}

/** Programs in `directory`, and in directories inside it, import Strata's packages from there. */
export function installPackages(bundle: string, directory: string): void {
  const scope = join(directory, "node_modules", "@strata")
  if (existsSync(scope)) return
  mkdirSync(scope, { recursive: true })
  for (const { folder, manifest } of publishedPackages())
    if (isLibrary(manifest)) symlinkSync(join(bundle, folder), join(directory, "node_modules", manifest.name))
}

/** Installs `strata` and `strata-sim` as commands. */
function commands({ strata, simulator }: BlockContext["programs"], directory: string): string {
  const bin = join(directory, "bin")
  mkdirSync(bin, { recursive: true })
  for (const [name, file] of [
    ["strata", strata],
    ["strata-sim", simulator],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

interface Execution {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Record<string, string>
}

const execute = ({ program, args, cwd, env }: Execution): Promise<{ exitCode: number; output: string }> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd, env, timeout: TIMEOUT_MS, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const exitCode = error ? (typeof error.code === "number" ? error.code : -1) : 0
      resolve({ exitCode, output: stdout + stderr })
    })
  })
