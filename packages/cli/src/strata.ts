/** From arguments to an exit code: help, version, one command, and a sentence if it fails. */
import { type Call, type Command, UsageError } from "./command.ts"
import { COMMANDS } from "./commands.ts"
import { processTerminal, type Terminal } from "./display/terminal.ts"
import { commandHelp, overview } from "./help.ts"
import { nearestTo } from "./suggestion.ts"
import { version } from "./version.ts"

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const HELP = new Set(["--help", "-h"])
const OPTIONS = ["--help", "--version", "--no-color"]

/** Where a command runs. The default is this process. */
export interface Surroundings extends Omit<Call, "args" | "terminal"> {
  /** Gets all output. */
  readonly terminal?: Terminal
}

export async function strata(
  argv: readonly string[],
  surroundings: Surroundings = { cwd: process.cwd(), env: process.env, stdin: process.stdin },
): Promise<number> {
  const { env } = surroundings
  const ownArgs = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined)
  const terminal = surroundings.terminal ?? processTerminal({ env, noColour: ownArgs.includes("--no-color") })
  const [name, ...args] = ownArgs[0] === "--no-color" ? argv.slice(1) : argv
  const call = { ...surroundings, args, terminal }
  try {
    if (name === undefined || HELP.has(name) || name === "help") return await help(args[0], call)
    if (name === "--version" || name === "-v") return print(`${version()}\n`, terminal)
    const command = find(name)
    if (!command.forwards && ownArgs.some((arg) => HELP.has(arg))) return await help(name, call)
    const { run } = await command.load()
    return await run(call)
  } catch (error) {
    terminal.complain(`${sentence(error, env)}\n`)
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED
  }
}

async function help(name: string | undefined, call: Call): Promise<number> {
  const { terminal } = call
  if (name === undefined || name.startsWith("-")) return print(overview(COMMANDS, terminal), terminal)
  const command = find(name)
  if (!command.forwards) return print(commandHelp((await command.describe?.()) ?? command, terminal), terminal)
  const { run } = await command.load()
  return run({ ...call, args: ["--help"] })
}

function print(text: string, terminal: Terminal): number {
  terminal.print(text)
  return 0
}

function find(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (command) return command
  if (name.startsWith("-")) {
    const near = nearestTo(name, OPTIONS)
    const hint = near === undefined ? '"strata --help" lists the options.' : `Did you mean ${near}?`
    throw new UsageError(`strata has no option ${name}. ${hint}`)
  }
  const names = COMMANDS.map((candidate) => candidate.name)
  const near = nearestTo(name, names)
  const hint = near === undefined ? `The commands are ${names.join(", ")}.` : `Did you mean "strata ${near}"?`
  throw new UsageError(`strata has no command ${name}. ${hint}`)
}

/** The error's message. `STRATA_DEBUG` adds the stack. */
function sentence(error: unknown, env: Call["env"]): string {
  if (env.STRATA_DEBUG && error instanceof Error) return error.stack ?? error.message
  return error instanceof Error ? error.message : String(error)
}
