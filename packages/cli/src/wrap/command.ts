/** `strata wrap`: runs a command through the proxy and reports the cost at the end. Nothing on the machine is changed. */

import { execFile, spawn } from "node:child_process"
import { hash, randomUUID } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { access, mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline/promises"
import { isatty } from "node:tty"
import type { PauseNotice } from "@strata/adapters/proxy"
import { strataDirectory } from "@strata/core"
import type { ReplayReport } from "@strata/transcripts/replay"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { formatDollars, pluralize } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine } from "../display/visible.ts"
import { commandHelp } from "../help.ts"
import { listAnnouncements } from "../proxy/announcement.ts"
import { WRAP } from "../proxy/descriptions.ts"
import { costLines } from "../proxy/report.ts"
import { type ClosedProxy, startRunning } from "../proxy/start-proxy.ts"
import { namedUpstream, publicApi, skipProxies, validateUpstream } from "../proxy/upstream.ts"
import { baseUrlInForce } from "./base-url.ts"
import { CLIENT_NAMES, clientOf } from "./client-names.ts"
import { prepare } from "./clients.ts"

// The wrapped command uses this process's terminal, signals and exit code.

const NOT_FOUND = 127 // the exit code of shells
const NOT_STARTED = 126
const KILLED = 128 // plus the signal's number

/** Signals that the terminal sends to the command directly. Forwarding them would deliver Ctrl-C twice. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"]
const PASSED_ON: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR2", ...FROM_TERMINAL]

export interface ChildOptions extends Pick<CommandCall, "cwd" | "env" | "terminal"> {
  readonly hasTerminal: boolean
}

/** Runs the command and resolves with its exit code. */
export function runChild(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env, terminal, hasTerminal }: ChildOptions,
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: env as NodeJS.ProcessEnv, stdio: "inherit" })
    const listeners = PASSED_ON.map((signal) => {
      const isPassed = !hasTerminal || !FROM_TERMINAL.includes(signal)
      const listener = () => void (isPassed && child.kill(signal))
      process.on(signal, listener)
      return () => process.off(signal, listener)
    })
    const end = (code: number) => {
      for (const stop of listeners) stop()
      resolve(code)
    }
    child.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT"
      const why = isMissing ? "it is not on the PATH" : error.message
      terminal.complain(`${program} was not started: ${why}. Nothing was changed.\n`)
      end(isMissing ? NOT_FOUND : NOT_STARTED)
    })
    child.once("close", (code, signal) => end(code ?? KILLED + (signal ? constants.signals[signal] : 0)))
  })
}

// The cost of a pause: the server's cache has expired, and the next request writes the entire conversation again.

const MIN_NOTICE_DOLLARS = 0.05 // dollars

export interface Pauses {
  /** Announces the cost of the request, or asks. */
  readonly onPause: (notice: PauseNotice) => Promise<boolean>
  /** Lines for the report. */
  lines(): readonly string[]
}

interface PauseOptions {
  readonly terminal: Pick<Terminal, "complain">
  /** Asks the user, if the command does not use the terminal. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined
  /** Whether the command draws on the terminal, where other output would disturb it. */
  readonly isQuiet: boolean
}

export function pauses({ terminal, ask, isQuiet }: PauseOptions): Pauses {
  const noticed: PauseNotice[] = []
  return {
    async onPause(notice) {
      noticed.push(notice)
      const { minutes, cost, direct } = notice
      if (cost < MIN_NOTICE_DOLLARS) return true
      const saved = direct > cost * 1.1 ? ` Without Strata: about ${formatDollars(direct)}.` : ""
      const line = `After ${Math.round(minutes)} minutes the server's cache has expired. This request costs about ${formatDollars(cost)}.${saved}`
      if (ask) return ask(`${line} Send it?`)
      if (!isQuiet) terminal.complain(`${line}\n`)
      return true
    },
    lines() {
      if (noticed.length === 0) return []
      const [cost, direct] = [sum(noticed.map((each) => each.cost)), sum(noticed.map((each) => each.direct))]
      const times = noticed.length === 1 ? "One pause" : `${noticed.length} pauses`
      return [
        `${times} cost the server's cache: about ${formatDollars(cost)}, without Strata about ${formatDollars(direct)}.`,
      ]
    },
  }
}

/** Asks on the terminal device, because standard input belongs to the command. No answer means yes. */
export async function askOnTerminal(question: string): Promise<boolean> {
  const [input, output] = [createReadStream("/dev/tty"), createWriteStream("/dev/tty")]
  const lines = createInterface({ input, output })
  try {
    return !/^n/i.test(await lines.question(`${question} [Y/n] `))
  } catch {
    return true
  } finally {
    lines.close()
    input.destroy()
    output.destroy()
  }
}

const sum = (parts: readonly number[]): number => parts.reduce((all, part) => all + part, 0)

// The mode of a project, manage or observe: the user's last choice, in a small file in Strata's directory.

export type Mode = "manage" | "observe"

interface Project extends Pick<CommandCall, "env"> {
  /** Directory with symbolic links resolved. */
  readonly directory: string
}

const fileOf = ({ env, directory }: Project): string =>
  join(strataDirectory(env), "wrapped", `${hash("sha256", directory, "hex")}.json`)

export async function rememberedMode(project: Project): Promise<Mode | undefined> {
  try {
    const { mode, directory } = JSON.parse(await readFile(fileOf(project), "utf8")) as Record<string, unknown>
    return directory === project.directory && (mode === "manage" || mode === "observe") ? mode : undefined
  } catch {
    return undefined
  }
}

export async function rememberMode(mode: Mode, project: Project): Promise<void> {
  const path = fileOf(project)
  const draft = `${path}.${randomUUID()}.draft`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(draft, `${JSON.stringify({ directory: project.directory, mode })}\n`, { mode: 0o600, flag: "wx" })
  await rename(draft, path)
}

// Estimates Strata's savings in observed conversations by running `strata replay` on their journals, in a separate process, so that a long replay can be abandoned.
// can be given up.

const REPLAY_TIMEOUT_MS = 8_000
const MAX_BYTES = 256 * 1024 * 1024

type Replayed = Pick<ReplayReport, "totals">

export async function estimateSavings(
  journals: readonly string[],
  { cwd, env }: Pick<CommandCall, "cwd" | "env">,
): Promise<string> {
  const there = (await Promise.all(journals.map(exists))).flatMap((path) => path ?? [])
  if (there.length === 0) return "There is no record to estimate what Strata would have saved."
  const later = `"strata replay FILE" on the journal says what Strata would have done.`
  try {
    const output = await ownOutput(["replay", "--json", ...there], { cwd, env })
    return sentence((JSON.parse(output) as { conversations: readonly Replayed[] }).conversations)
  } catch (error) {
    const isLate = (error as { killed?: boolean }).killed === true
    return isLate ? `Left out, because it takes longer than ${REPLAY_TIMEOUT_MS / 1000} seconds: ${later}` : later
  }
}

const exists = (path: string): Promise<string | undefined> =>
  access(path).then(
    () => path,
    () => undefined,
  )

function ownOutput(args: readonly string[], { cwd, env }: Pick<CommandCall, "cwd" | "env">): Promise<string> {
  const options = { cwd, env: env as NodeJS.ProcessEnv, timeout: REPLAY_TIMEOUT_MS, maxBuffer: MAX_BYTES }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...process.execArgv, process.argv[1]!, ...args], options, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
  })
}

/** Describes the estimate. Conversations without a known price are not included in the sum. */
function sentence(replayed: readonly Replayed[]): string {
  const totals = replayed.flatMap(({ totals: each }) => (each.saved.unit === "dollars" ? [each] : []))
  const sum = (of: (each: Replayed["totals"]) => number) => totals.reduce((all, each) => all + of(each), 0)
  const [saved, cost] = [sum((each) => each.saved.amount), sum((each) => each.dollars ?? 0)]
  const acts = sum(({ acts: { compacted: _, ...others } }) => Object.values(others).reduce((all, one) => all + one, 0))
  const compactions = sum((each) => each.compactions)
  const would = `Managed, Strata would have acted on ${pluralize(acts, "result")} and compacted ${pluralize(compactions, "time")}`
  if (acts + compactions === 0) return "Managed, Strata would have done nothing yet: the conversation is too short."
  if (totals.length === 0) return `${would}. What that saves is unknown: the model has no known price.`
  const share = Math.round((100 * Math.abs(saved)) / (cost + saved || 1))
  return `${would}: about ${formatDollars(Math.abs(saved))} ${saved >= 0 ? "less" : "more"} (${share}%), by a replay of the journal.`
}

export const run: Run = async (call) => {
  const { cwd, env, terminal } = call
  const { own, command } = split(call.args)
  const { values } = readArguments({ ...WRAP, operands: { value: "", min: 0, max: 0 } }, own)
  if (own.some((arg) => arg === "--help" || arg === "-h")) {
    terminal.print(commandHelp(WRAP, terminal))
    return 0
  }
  if (command === undefined)
    throw new UsageError(`strata wrap needs ${WRAP.operands.value}. "strata wrap --help" shows an example.`)
  if (values.manage && values.observe) throw new UsageError("Say --manage or --observe, not both.")
  const [program, ...args] = command
  const client = clientOf(program)
  const directory = await realpath(cwd)
  const inForce = await baseUrlInForce(client, { cwd: directory, env })
  const upstream = await upstreamFor(values.upstream, inForce, env)
  const mode = await modeFor(values, { env, directory })
  const log = values.verbose ? (line: string) => terminal.complain(`${line}\n`) : () => {}
  // if the command's input is not a terminal, Strata can use the terminal for questions
  const asks = values.ask && !isatty(0) && isatty(2)
  const paused = pauses({ terminal, isQuiet: isatty(1) && isatty(0), ask: asks ? askOnTerminal : undefined })
  const { onPause } = paused
  const running = await startRunning({
    ...{ upstream, mode, log, onPause, asks, env },
    cwd: directory,
    withoutRecall: values["no-recall"],
  })
  const prepared = await prepare(client, { url: running.url, env, args, inForce })
  try {
    if (mode === "observe") terminal.complain(`${observing(program)}\n`)
    for (const remark of prepared.remarks) terminal.complain(`${remark}\n`)
    const hasTerminal = [0, 1, 2].some((fd) => isatty(fd))
    return await runChild([program, ...prepared.args, ...args], { cwd, env: prepared.env, terminal, hasTerminal })
  } finally {
    await prepared.remove()
    await report(await running.close(), { cwd: directory, env, terminal, mode, pauses: paused.lines() })
  }
}

interface SplitArguments {
  readonly own: readonly string[]
  readonly command: readonly [string, ...string[]] | undefined
}

/** Splits Strata's options from the command. All arguments after the command's name belong to it. */
function split(args: readonly string[]): SplitArguments {
  const takesValue = (arg: string) => WRAP.options[arg.slice(2) as keyof typeof WRAP.options]?.kind === "text"
  let at = 0
  while (at < args.length && args[at]!.startsWith("-") && args[at] !== "--") at += takesValue(args[at]!) ? 2 : 1
  const own = args.slice(0, at)
  const rest = args.slice(args[at] === "--" ? at + 1 : at)
  const [program, ...others] = rest
  if (program === undefined) return { own, command: undefined }
  if (args[at] !== "--" && !CLIENT_NAMES.some((name) => name === program))
    throw new UsageError(
      `strata wrap knows ${CLIENT_NAMES.join(", ")}, not "${program}". Another command follows two dashes: strata wrap -- ${program}`,
    )
  return { own, command: [program, ...others] }
}

/** The client's own base URL becomes the upstream, unless it is a Strata proxy. */
async function upstreamFor(
  option: string | undefined,
  inForce: Awaited<ReturnType<typeof baseUrlInForce>>,
  env: CommandCall["env"],
): Promise<string> {
  const named = namedUpstream(option, env)
  if (named) return named.upstream
  if (!inForce) return publicApi.upstream
  return skipProxies(validateUpstream(inForce.url, inForce.file ?? "ANTHROPIC_BASE_URL"), await listAnnouncements(env))
}

async function modeFor(
  { manage, observe }: { readonly manage: boolean; readonly observe: boolean },
  project: Pick<CommandCall, "env"> & { readonly directory: string },
): Promise<Mode> {
  const chosenMode = manage ? "manage" : observe ? "observe" : undefined
  if (chosenMode) await rememberMode(chosenMode, project)
  return chosenMode ?? (await rememberedMode(project)) ?? "observe"
}

function observing(program: string): string {
  const shown = escapeToLine(CLIENT_NAMES.some((name) => name === program) ? program : `-- ${program} …`)
  return `Strata only observes in this project: nothing is changed. To let it manage the context: strata wrap --manage ${shown}`
}

interface RunSummary {
  readonly mode: Mode
  readonly pauses: readonly string[]
}

async function report(
  { rows, journals }: ClosedProxy,
  { cwd, env, terminal, mode, pauses }: Pick<CommandCall, "cwd" | "env" | "terminal"> & RunSummary,
): Promise<void> {
  const lines = [...costLines(rows, terminal), ...pauses]
  if (rows.length > 0) {
    const files = rows.map(({ id }) => join(journals, `${id}.jsonl`))
    if (mode === "observe") lines.push(await estimateSavings(files, { cwd, env }))
    lines.push(`Journals: ${escapeToLine(journals)}`)
  }
  terminal.complain(`${lines.join("\n")}\n`)
}
