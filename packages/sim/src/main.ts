#!/usr/bin/env node
/** The command `strata-sim`. Exit code 0 after a normal stop, 1 if the server cannot start, 2 for wrong options. */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import type { Responder } from "./responder.ts"
import {
  RESPONDER_NAMES,
  type RecordedMessage,
  responderByName,
  type ScriptedTurn,
  UnknownResponder,
} from "./responders/index.ts"
import { findScriptProblem, toScriptedTurn } from "./responders/script-file.ts"
import type { Simulator } from "./start.ts"
import type { BindingEnforcement } from "./thinking/binding.ts"

const EXIT_FAILED = 1
const EXIT_USAGE = 2

const HELP = `A local server that speaks the Messages API.

  --port <number>         port on 127.0.0.1 (default 4010; 0 picks a free one)
  --responder <name>      writes the answers (default worker, or the one that
                          --script or --conversation is for):
                          ${RESPONDER_NAMES.join(", ")}
  --seed <number>         the same seed gives the same answers and ids (default 1)
  --log                   print one line per request
  --script <file>         JSON list of answers for the responder "scripted"
  --conversation <file>   JSON list of messages for the responder "playback"
  --bind-thinking <mode>  off, allow-report or error (default: as each model does)
  --strict-betas          refuse betas the simulator does not know
  --strict-system-messages
                          refuse system messages on Sonnet 5 and Haiku 5.5
  --billing-in-prompt     keep Claude Code's billing block in the prompt, as a
                          server does that is not Anthropic's
  --cache-edits           turn on cache editing, which no public model has
  --token <text>          token for the control endpoints under /_sim/
                          (default: random)
  --help                  print this text

Point a client at it, in another terminal:
  export ANTHROPIC_BASE_URL=http://127.0.0.1:4010 ANTHROPIC_API_KEY=anything
The worker starts working and edits files if it is offered tools for that.
The responder "helpful" does what you ask: "Read notes.txt." calls a tool named Read.
`

/** The command was called with invalid arguments. */
class UsageError extends Error {}

const BINDINGS: readonly string[] = ["off", "allow-report", "error"] satisfies BindingEnforcement[]

const OPTIONS = {
  port: { type: "string", default: "4010" },
  responder: { type: "string" },
  seed: { type: "string", default: "1" },
  log: { type: "boolean", default: false },
  script: { type: "string" },
  conversation: { type: "string" },
  "bind-thinking": { type: "string" },
  "strict-betas": { type: "boolean", default: false },
  "strict-system-messages": { type: "boolean", default: false },
  "billing-in-prompt": { type: "boolean", default: false },
  "cache-edits": { type: "boolean", default: false },
  token: { type: "string" },
  help: { type: "boolean", default: false },
} as const

type Options = ReturnType<typeof readOptions>

/** Checks the arguments one by one first, because the errors of `parseArgs` span several sentences. */
function readOptions(words: readonly string[]) {
  const { tokens } = parseArgs({ args: [...words], options: OPTIONS, tokens: true, strict: false })
  for (const token of tokens) {
    if (token.kind === "positional") throw new UsageError(`Unexpected argument "${token.value}". See --help.`)
    if (token.kind !== "option") continue
    const { name, rawName, value } = token
    if (!Object.hasOwn(OPTIONS, name)) throw new UsageError(`There is no option ${rawName}. See --help.`)
    const takesValue = OPTIONS[name as keyof typeof OPTIONS].type === "string"
    if (takesValue && (value === undefined || (!token.inlineValue && value.startsWith("-")))) {
      throw new UsageError(`${rawName} needs a value. See --help.`)
    }
    if (!takesValue && value !== undefined) throw new UsageError(`${rawName} takes no value. See --help.`)
  }
  return parseArgs({ args: [...words], options: OPTIONS }).values
}

async function start(options: Options): Promise<Simulator> {
  const seed = wholeNumber("seed", options.seed)
  const bindThinking = options["bind-thinking"]
  if (bindThinking !== undefined && !BINDINGS.includes(bindThinking)) {
    throw new UsageError(`--bind-thinking must be one of ${BINDINGS.join(", ")}, not "${bindThinking}".`)
  }
  const port = wholeNumber("port", options.port, 65_535)
  const responder = makeResponder(options, seed)
  const { startSimulator } = await import("./start.ts") // loads the tokenizer, so only after the options are checked
  return startSimulator({
    responder,
    port,
    seed,
    billingInPrompt: options["billing-in-prompt"],
    cacheEdits: options["cache-edits"],
    strictBetas: options["strict-betas"],
    strictSystemMessages: options["strict-system-messages"],
    ...(bindThinking && { bindThinking: bindThinking as BindingEnforcement }),
    ...(options.token && { token: options.token }),
    ...(options.log && { log: (line: string) => console.log(line) }),
  })
}

/** The option that each responder with a file needs. */
const FILE_OPTIONS = { scripted: "script", playback: "conversation" } as const

function responderName(options: Options): string {
  const given = Object.entries(FILE_OPTIONS).filter(([, option]) => options[option] !== undefined)
  const name = options.responder ?? given[0]?.[0] ?? "worker"
  const other = given.find(([responder]) => responder !== name)
  if (other) throw new UsageError(`--${other[1]} is for the responder "${other[0]}", not for "${name}".`)
  return name
}

function makeResponder(options: Options, seed: number): Responder {
  const { script, conversation } = options
  const responder = responderName(options)
  if (responder === "scripted" && !script) throw new UsageError('The responder "scripted" needs --script <file>.')
  if (responder === "playback" && !conversation)
    throw new UsageError('The responder "playback" needs --conversation <file>.')
  const lists = {
    ...(script && { script: readScript(readList("script", script), script) }),
    ...(conversation && { conversation: readList("conversation", conversation) as RecordedMessage[] }),
  }
  try {
    return responderByName(responder, { seed, ...lists })
  } catch (error) {
    throw error instanceof UnknownResponder ? new UsageError(error.message) : error
  }
}

function wholeNumber(name: string, text: string, max = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text)
  if (text.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= max) return value
  throw new UsageError(`--${name} must be a whole number${max === 65_535 ? ` up to ${max}` : ""}, not "${text}".`)
}

function readScript(list: readonly unknown[], path: string): readonly ScriptedTurn[] {
  const wrong = findScriptProblem(list)
  if (wrong) throw new UsageError(`--script: ${path}, ${wrong}`)
  return list.map(toScriptedTurn)
}

function readList(name: string, path: string): unknown[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (Array.isArray(value)) return value
  } catch (error) {
    throw new UsageError(`--${name}: cannot read ${path}: ${(error as Error).message}`)
  }
  throw new UsageError(`--${name}: ${path} must be a JSON list.`)
}

function explain({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return "The port is in use. Choose another with --port, or --port 0 for any free one."
  if (code === "EACCES") return "This user may not listen on the port. Choose another with --port."
  return message
}

async function main() {
  const options = readOptions(process.argv.slice(2))
  if (options.help) return process.stdout.write(HELP)
  const simulator = await start(options)
  // registered before the ready line is printed: a reader of that line may end the server at once
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      await simulator.close()
      process.exit(0)
    })
  }
  const token = options.token ? "" : `, control token ${simulator.token}`
  console.log(`Strata simulator (${responderName(options)}) on ${simulator.url}${token}`)
}

try {
  await main()
} catch (error) {
  console.error(explain(error as Error))
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED
}
