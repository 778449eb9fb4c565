/** Runs a command line: help, version or a command. Reports errors and returns the exit code. */
import { type Command, type CommandCall, UsageError } from "./command.ts"
import { DESCRIPTIONS, GROUPS } from "./descriptions.ts"
import { processTerminal, type Terminal } from "./display/terminal.ts"
import { waitingLine } from "./display/waiting-line.ts"
import { commandHelp, groupHelp, overview } from "./help.ts"
import { showWaiting } from "./store-waiting.ts"
import { nearestTo } from "./suggestion.ts"
import { version } from "./version.ts"

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const HELP = new Set(["--help", "-h"])
const OPTIONS = ["--help", "--version", "--no-color"]

/** The environment of a command. Default: this process. */
export interface CommandContext extends Omit<CommandCall, "args" | "terminal"> {
  /** Receives all output. */
  readonly terminal?: Terminal
}

const THIS_PROCESS: CommandContext = {
  cwd: process.cwd(),
  env: process.env,
  get stdin() {
    return process.stdin // opened only if a command reads it; help does not
  },
}

/**
 * Creates the entry function for a part of the program with these commands. The help always lists all commands. `prepare` runs before a
 * command.
 */
export function commandLine(
  commands: readonly Command[],
  prepare?: (env: CommandCall["env"]) => Promise<void>,
): (argv: readonly string[], surroundings?: CommandContext) => Promise<number> {
  return async (argv, surroundings = THIS_PROCESS) => {
    const { env } = surroundings
    const ownArgs = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined)
    const terminal = surroundings.terminal ?? processTerminal({ env, noColour: ownArgs.includes("--no-color") })
    const [name, ...args] = ownArgs[0] === "--no-color" ? argv.slice(1) : argv
    try {
      if (name === "--version" || name === "-v") return print(`${version()}\n`, terminal)
      const isHelp = name === undefined || HELP.has(name) || name === "help"
      const named = isHelp ? args.find((arg) => !arg.startsWith("-")) : name
      if (named === undefined) return print(overview(GROUPS, terminal), terminal)
      const group = isHelp && GROUPS.find((candidate) => candidate.name === named)
      if (group) return print(groupHelp(group, terminal), terminal)
      const command = find(named, commands)
      const asksHelp = isHelp || ownArgs.some((arg) => HELP.has(arg))
      if (asksHelp && !command.forwards)
        return print(commandHelp((await command.describe?.()) ?? command, terminal), terminal)
      await prepare?.(env)
      const { run } = await command.load()
      const line = waitingLine(terminal)
      const stop = showWaiting(line.show)
      try {
        return await run({ ...surroundings, args: isHelp ? ["--help"] : args, terminal: line.terminal })
      } finally {
        stop()
      }
    } catch (error) {
      terminal.complain(`${sentence(error, env)}\n`)
      return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED
    }
  }
}

function print(text: string, terminal: Terminal): number {
  terminal.print(text)
  return 0
}

function find(name: string, commands: readonly Command[]): Command {
  const command = commands.find((candidate) => candidate.name === name)
  if (command) return command
  if (name.startsWith("-")) {
    const near = nearestTo(name, OPTIONS)
    const hint = near === undefined ? '"strata --help" lists the options.' : `Did you mean ${near}?`
    throw new UsageError(`strata has no option ${name}. ${hint}`)
  }
  if (GROUPS.some((group) => group.name === name))
    throw new UsageError(`${name} is a group of commands. "strata help ${name}" lists them.`)
  const near = nearestTo(
    name,
    [...DESCRIPTIONS, ...GROUPS].map((candidate) => candidate.name),
  )
  const isGroup = GROUPS.some((group) => group.name === near)
  const hint =
    near === undefined
      ? '"strata --help" lists the commands.'
      : `Did you mean "strata ${isGroup ? "help " : ""}${near}"?`
  throw new UsageError(`strata has no command ${name}. ${hint}`)
}

/** The error's message. `STRATA_DEBUG` adds the stack. */
function sentence(error: unknown, env: CommandCall["env"]): string {
  if (env.STRATA_DEBUG && error instanceof Error) return error.stack ?? error.message
  return error instanceof Error ? error.message : String(error)
}
