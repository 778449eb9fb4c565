#!/usr/bin/env node
/** The simulator as a command. */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { BRAIN_NAMES, brainByName } from "./brains/index.ts"
import type { Simulator } from "./start.ts"
import type { BindingEnforcement } from "./thinking/binding.ts"

const HELP = `A local server that speaks the Messages API.

  --port <number>         where to listen, on 127.0.0.1 (default 4010; 0: any free port)
  --brain <name>          what answers: ${BRAIN_NAMES.join(", ")} (default worker)
  --seed <number>         the same seed gives the same answers and ids (default 1)
  --log                   one line for each request
  --script <file>         for the brain "scripted": a JSON list of answers
  --conversation <file>   for the brain "playback": a JSON list of messages
  --bind-thinking <how>   off, allow-report or error (default: as each model has it)
  --cache-edits           the non-standard cache editing mode
  --token <text>          for the control endpoints under /_sim/ (default: a random one)
  --help                  this text
`

const BINDINGS: readonly string[] = ["off", "allow-report", "error"] satisfies BindingEnforcement[]

function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: "4010" },
      brain: { type: "string", default: "worker" },
      seed: { type: "string", default: "1" },
      log: { type: "boolean", default: false },
      script: { type: "string" },
      conversation: { type: "string" },
      "bind-thinking": { type: "string" },
      "cache-edits": { type: "boolean", default: false },
      token: { type: "string" },
      help: { type: "boolean", default: false },
    },
  })
  return values
}
type Options = ReturnType<typeof readOptions>

async function start(options: Options): Promise<Simulator> {
  const seed = wholeNumber("seed", options.seed)
  const bindThinking = options["bind-thinking"]
  if (bindThinking !== undefined && !BINDINGS.includes(bindThinking)) {
    throw new Error(`--bind-thinking must be one of ${BINDINGS.join(", ")}, not "${bindThinking}".`)
  }
  const port = wholeNumber("port", options.port, 65_535)
  const brain = brainByName(options.brain, {
    seed,
    ...(options.script && { script: readList("script", options.script) }),
    ...(options.conversation && { conversation: readList("conversation", options.conversation) }),
  })
  const { startSimulator } = await import("./start.ts") // loads the tokenizer, which mistakes need not wait for
  return startSimulator({
    brain,
    port,
    seed,
    cacheEdits: options["cache-edits"],
    ...(bindThinking && { bindThinking: bindThinking as BindingEnforcement }),
    ...(options.token && { token: options.token }),
    ...(options.log && { log: (line: string) => console.log(line) }),
  })
}

function wholeNumber(name: string, text: string, max = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text)
  if (text.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= max) return value
  throw new Error(`--${name} must be a whole number${max === 65_535 ? ` up to ${max}` : ""}, not "${text}".`)
}

function readList<T>(name: string, path: string): T[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (Array.isArray(value)) return value as T[]
  } catch (error) {
    throw new Error(`--${name}: ${path} cannot be read: ${(error as Error).message}`)
  }
  throw new Error(`--${name}: ${path} must be a JSON list.`)
}

/** What went wrong, as a sentence. */
function explain({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EADDRINUSE") return "The port is in use. Choose another with --port, or 0 for any that is free."
  if (code === "EACCES") return "The port may not be used. Choose another with --port."
  return message
}

async function main() {
  const options = readOptions(process.argv.slice(2))
  if (options.help) return process.stdout.write(HELP)
  const simulator = await start(options)
  const token = options.token ? "" : `, control token ${simulator.token}`
  console.log(`Strata simulator (${options.brain}) on ${simulator.url}${token}`)
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      await simulator.close()
      process.exit(0)
    })
  }
}

try {
  await main()
} catch (error) {
  console.error(explain(error as Error))
  process.exitCode = 1
}
