/** `strata wrap`: a command with the proxy in front of its model, and a bill at the end. Nothing on the machine is changed. */
import { realpath } from "node:fs/promises"
import { join } from "node:path"
import { isatty } from "node:tty"
import { readArguments } from "../arguments.ts"
import { type Call, type Run, UsageError } from "../command.ts"
import { printable } from "../display/visible.ts"
import { commandHelp } from "../help.ts"
import { announced } from "../proxy/announcement.ts"
import { WRAP } from "../proxy/descriptions.ts"
import { costLines } from "../proxy/report.ts"
import { type Closed, startRunning } from "../proxy/running.ts"
import { checked, namedUpstream, pastProxies, publicApi } from "../proxy/upstream.ts"
import { baseUrlInForce } from "./base-url.ts"
import { runChild } from "./child.ts"
import { CLIENT_NAMES, clientOf } from "./client-names.ts"
import { prepare } from "./clients.ts"
import { asked, pauses } from "./pauses.ts"
import { type Mode, rememberedMode, rememberMode } from "./project-mode.ts"
import { wouldHave } from "./would-have.ts"

export const run: Run = async (call) => {
  const { cwd, env, terminal } = call
  const { own, command } = split(call.args)
  const { values } = readArguments({ ...WRAP, operands: { value: "", least: 0, most: 0 } }, own)
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
  // a command without a terminal as its input leaves ours free for a question
  const asks = values.ask && !isatty(0) && isatty(2)
  const paused = pauses({ terminal, isQuiet: isatty(1) && isatty(0), ask: asks ? asked : undefined })
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

interface Split {
  readonly own: readonly string[]
  readonly command: readonly [string, ...string[]] | undefined
}

/** Our own options come first. What follows the command's name is the command's, whatever it looks like. */
function split(args: readonly string[]): Split {
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

/** The base URL that the client had is the server it wants, unless that is a proxy of ours. */
async function upstreamFor(
  option: string | undefined,
  inForce: Awaited<ReturnType<typeof baseUrlInForce>>,
  env: Call["env"],
): Promise<string> {
  const named = namedUpstream(option, env)
  if (named) return named.upstream
  if (!inForce) return publicApi.upstream
  return pastProxies(checked(inForce.url, inForce.file ?? "ANTHROPIC_BASE_URL"), await announced(env))
}

async function modeFor(
  { manage, observe }: { readonly manage: boolean; readonly observe: boolean },
  project: Pick<Call, "env"> & { readonly directory: string },
): Promise<Mode> {
  const said = manage ? "manage" : observe ? "observe" : undefined
  if (said) await rememberMode(said, project)
  return said ?? (await rememberedMode(project)) ?? "observe"
}

function observing(program: string): string {
  const shown = printable(CLIENT_NAMES.some((name) => name === program) ? program : `-- ${program} …`)
  return `Strata only observes in this project: nothing is changed. To let it manage the context: strata wrap --manage ${shown}`
}

interface Reported {
  readonly mode: Mode
  readonly pauses: readonly string[]
}

async function report(
  { rows, journals }: Closed,
  { cwd, env, terminal, mode, pauses }: Pick<Call, "cwd" | "env" | "terminal"> & Reported,
): Promise<void> {
  const lines = [...costLines(rows, terminal), ...pauses]
  if (rows.length > 0) {
    const files = rows.map(({ id }) => join(journals, `${id}.jsonl`))
    if (mode === "observe") lines.push(await wouldHave(files, { cwd, env }))
    lines.push(`Journals: ${printable(journals)}`)
  }
  terminal.complain(`${lines.join("\n")}\n`)
}
