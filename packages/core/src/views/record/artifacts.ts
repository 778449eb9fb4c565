/**
 * The artifacts view: which files were read, created, changed and deleted, which commands ran and how they ended. It is computed from
 * the tool calls themselves, never from what the model says about them.
 */
import { hash } from "node:crypto"
import type { Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { type FileEffect, fileEffects } from "./file-effects.ts"
import { type FinishedCall, followCalls, type OpenCall } from "./tool-calls.ts"

export interface Artifacts {
  /** By path, the most recently touched last. */
  readonly files: Map<string, FileFacts>
  /** By command line, the most recently run last. */
  readonly commands: Map<string, CommandFacts>
  readonly open: Map<string, OpenCall>
}

export interface FileFacts {
  reads: number
  changes: number
  created: boolean
  deleted: boolean
  /** sha256 of the content as it was last read or written whole. */
  hash?: string
  /** The entry with the newest result about the file. */
  last: Uuid
}

export interface CommandFacts {
  readonly failed: boolean
  readonly exitCode: number | undefined
  readonly isTest: boolean
  readonly last: Uuid
}

/** What finally became of a file. */
export type FileFate = "created" | "changed" | "deleted" | "read"

export function fateOf({ created, changes, deleted }: FileFacts): FileFate {
  if (deleted) return "deleted"
  if (created) return "created"
  return changes > 0 ? "changed" : "read"
}

const MOST_COMMANDS = 500 // the oldest are dropped; their results stay in the journal
const SHELL_TOOLS = new Set([
  "bash",
  "shell",
  "exec_command",
  "shell_command",
  "run_command",
  "execute_bash",
  "local_shell",
  "bashexecution",
])
const TEST_COMMAND =
  /\b(?:vitest|jest|mocha|pytest|unittest|go test|cargo (?:test|nextest)|(?:npm|pnpm|yarn|bun)(?: run)? test|mvn test|gradle test|ctest|rspec|phpunit|make (?:test|check)|mise run test)/

export const artifacts: Projection<Artifacts> = {
  name: "artifacts",
  scope: "path",
  start: () => ({ files: new Map(), commands: new Map(), open: new Map() }),
  apply(state, entry) {
    for (const call of followCalls(state.open, entry)) {
      const isCommand = SHELL_TOOLS.has(call.tool.toLowerCase())
      const exitCode = isCommand ? exitCodeOf(call.output) : undefined
      const ended = { ...call, failed: call.failed || (exitCode ?? 0) !== 0 }
      if (isCommand) noteCommand(state, ended, exitCode)
      for (const effect of fileEffects(ended)) noteFile(state, effect, call.uuid)
    }
    return state
  },
}

function noteFile({ files }: Artifacts, effect: FileEffect, uuid: Uuid): void {
  const before = files.get(effect.path)
  const facts = before ?? { reads: 0, changes: 0, created: false, deleted: false, last: uuid }
  facts.last = uuid
  if (effect.what === "read") {
    facts.reads++
    facts.deleted = false // something the tool calls do not show has brought it back
  } else if (effect.what === "deleted") facts.deleted = true
  else {
    const isNew = effect.what === "created" || (effect.what === "written" && (before === undefined || before.deleted))
    if (isNew) facts.created = true
    else facts.changes++
    facts.deleted = false
    if (effect.content === undefined) delete facts.hash
  }
  if (effect.content !== undefined) facts.hash = hash("sha256", effect.content, "hex")
  files.delete(effect.path)
  files.set(effect.path, facts)
}

function noteCommand({ commands }: Artifacts, call: FinishedCall, exitCode: number | undefined): void {
  const command = commandOf(call.input)
  if (command === "") return
  commands.delete(command)
  commands.set(command, { failed: call.failed, exitCode, isTest: TEST_COMMAND.test(command), last: call.uuid })
  if (commands.size > MOST_COMMANDS) commands.delete(commands.keys().next().value!)
}

export function commandOf(input: Readonly<Record<string, unknown>>): string {
  const given = input.command ?? input.cmd
  return typeof given === "string" ? given : Array.isArray(given) ? given.join(" ") : ""
}

/** Agents report the exit code in different ways. */
function exitCodeOf(output: string): number | undefined {
  const match =
    /(?:^|\n|")(?:Exit code:? |Process exited with code |Command exited with code |exit_code"?: ?)(-?\d+)/i.exec(
      output.slice(0, 2_000) + output.slice(-500),
    )
  return match ? Number(match[1]) : undefined
}
