/**
 * The artifacts view: which files were read, created, changed and deleted, which commands ran and how they ended. It is computed from
 * the tool calls themselves, never from what the model says about them.
 */
import { hash } from "node:crypto"
import { isDecision } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import type { FileEffect } from "./file-effect.ts"
import { callEffects, isShellTool } from "./file-effects.ts"
import { endsWithPath, isInside, isRelative, resolvedPath } from "./file-paths.ts"
import { runsTests } from "./test-runs.ts"
import { type FinishedCall, followCalls, type OpenCall } from "./tool-calls.ts"

export interface Artifacts {
  /** By path, the most recently touched last. */
  readonly files: Map<string, FileFacts>
  /** By command line, the most recently run last. */
  readonly commands: Map<string, CommandFacts>
  readonly open: Map<string, OpenCall>
  /** The conversation's directory, once an entry names it. */
  cwd?: string
  /** Where its shell is, if not there. */
  directory?: string
}

export interface FileFacts {
  reads: number
  changes: number
  created: boolean
  deleted: boolean
  /** sha256 of the content as it was last read or written whole. */
  hash?: string
  /** Only shell commands touched it: its content was never shown. */
  onlyByShell?: true
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

export const artifacts: Projection<Artifacts> = {
  name: "artifacts",
  scope: "path",
  start: () => ({ files: new Map(), commands: new Map(), open: new Map() }),
  apply(state, entry) {
    if (isDecision(entry) && entry.subtype === "session") placeIn(state, entry.cwd)
    for (const call of followCalls(state.open, entry)) {
      const isCommand = isShellTool(call.tool)
      const exitCode = isCommand ? exitCodeOf(call.output) : undefined
      const ended = { ...call, failed: call.failed || (exitCode ?? 0) !== 0 }
      if (isCommand) noteCommand(state, ended, exitCode)
      const { cwd, directory } = state
      const isKnown = (place: string) => [...state.files.keys()].some((path) => isInside(path, place))
      const done = callEffects(ended, { cwd, directory, ran: exitCode !== undefined, isKnown })
      for (const effect of done.effects) noteFile(state, named(effect, state), { uuid: call.uuid, isCommand })
      if (done.directory !== undefined) state.directory = done.directory
    }
    return state
  },
}

/** An imported journal names its directory last: what is known by then gets its whole path. */
function placeIn(state: Artifacts, cwd: string): void {
  if (cwd === "" || state.cwd === cwd) return
  state.cwd = cwd
  if (state.directory !== undefined) state.directory = resolvedPath(state.directory, cwd)
  const files = [...state.files]
  state.files.clear()
  for (const [path, facts] of files) {
    const whole = resolvedPath(path, cwd)
    const same = state.files.get(whole)
    state.files.delete(whole)
    state.files.set(whole, same ? joined(same, facts) : facts)
  }
}

/** Without a directory, a relative path is the known whole path that ends with it, and the other way round. The whole one stays. */
function named(effect: FileEffect, { files, cwd }: Artifacts): FileEffect {
  if (cwd !== undefined || files.has(effect.path)) return effect
  const same = [...files.keys()].filter((path) => endsWithPath(path, effect.path) || endsWithPath(effect.path, path))
  if (same.length !== 1) return effect
  const [before] = same
  if (!isRelative(before!)) return { ...effect, path: before! }
  files.set(effect.path, files.get(before!)!)
  files.delete(before!)
  return effect
}

/** Two names of one file: what happened under the later one came last. */
function joined(before: FileFacts, { onlyByShell, ...after }: FileFacts): FileFacts {
  return {
    ...after,
    reads: before.reads + after.reads,
    changes: before.changes + after.changes,
    created: before.created || after.created,
    ...(before.onlyByShell && onlyByShell ? { onlyByShell } : {}),
  }
}

interface By {
  readonly uuid: Uuid
  readonly isCommand: boolean
}

function noteFile({ files }: Artifacts, effect: FileEffect, { uuid, isCommand }: By): void {
  const before = files.get(effect.path)
  const facts: FileFacts = before ?? { reads: 0, changes: 0, created: false, deleted: false, last: uuid }
  facts.last = uuid
  if (!isCommand) delete facts.onlyByShell
  else if (!before) facts.onlyByShell = true
  if (effect.what === "read") {
    facts.reads++
    facts.deleted = false // something the tool calls do not show has brought it back
  } else if (effect.what === "deleted") {
    facts.deleted = true
    for (const [path, inside] of files) if (isInside(path, effect.path)) inside.deleted = true
  } else {
    const isMissing = before === undefined || before.deleted
    if (isMissing && effect.what !== "changed") facts.created = true
    else if (effect.what !== "touched") facts.changes++
    facts.deleted = false
    if (effect.content === undefined && effect.what !== "touched") delete facts.hash
  }
  if (effect.content !== undefined) facts.hash = hash("sha256", effect.content, "hex")
  files.delete(effect.path)
  files.set(effect.path, facts)
}

function noteCommand({ commands }: Artifacts, call: FinishedCall, exitCode: number | undefined): void {
  const command = commandOf(call.input)
  if (command === "") return
  commands.delete(command)
  commands.set(command, { failed: call.failed, exitCode, isTest: runsTests(command), last: call.uuid })
  if (commands.size > MOST_COMMANDS) commands.delete(commands.keys().next().value!)
}

export function commandOf(input: Readonly<Record<string, unknown>>): string {
  const given = input.command ?? input.cmd
  return typeof given === "string" ? given : Array.isArray(given) ? given.join(" ") : ""
}

/** Agents report the exit code in different ways. */
export function exitCodeOf(output: string): number | undefined {
  const match =
    /(?:^|\n|")(?:Exit code:? |Process exited with code |Command exited with code |exit_code"?: ?)(-?\d+)/i.exec(
      output.slice(0, 2_000) + output.slice(-500),
    )
  return match ? Number(match[1]) : undefined
}
