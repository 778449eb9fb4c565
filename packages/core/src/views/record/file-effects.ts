/** The effects of a finished tool call on files: a table of tools. Effects of shell commands are read from their text. */
import type { FileEffect } from "./file-effect.ts"
import { isRelative, resolvePath } from "./file-paths.ts"
import type { FinishedCall } from "./open-work.ts"
import { shellEffects } from "./shell-effects.ts"

type Input = FinishedCall["input"]
type Effects = (call: FinishedCall) => readonly FileEffect[]

export interface CallEffects {
  readonly effects: readonly FileEffect[]
  /** The directory of the conversation's shell after the call. */
  readonly directory: string | undefined
}

export interface CallLocation {
  /** The directory to which relative paths refer. */
  readonly cwd?: string | undefined
  /** The directory of the conversation's shell. Default: `cwd`. */
  readonly directory?: string | undefined
  /** Whether a failed call ran its command: it has an exit code. */
  readonly ran?: boolean
  /** Whether files in a directory are known. */
  readonly isKnown?: (directory: string) => boolean
}

const pathIn = (input: Input): string | undefined => {
  const path = input.file_path ?? input.notebook_path ?? input.path ?? input.filePath ?? input.absolute_path
  return typeof path === "string" && path !== "" ? path : undefined
}

const withPath =
  (effect: (path: string, call: FinishedCall) => FileEffect): Effects =>
  (call) => {
    const path = pathIn(call.input)
    return path === undefined ? [] : [effect(path, call)]
  }

/** What Strata's Read tool returns instead of content: the file is unchanged or empty. */
const NOT_CONTENT = /^\[[^\n]* (?:is unchanged since you read it|is empty)[^\n]*\]\s*$/

const read = withPath((path, call) => {
  if (NOT_CONTENT.test(call.output) || call.output === "") return { path, what: "read" }
  const partial = call.input.offset !== undefined || call.input.limit !== undefined
  return partial ? { path, what: "read" } : { path, what: "read", content: call.output }
})
const changed = withPath((path) => ({ path, what: "changed" }))
const written = withPath((path, call) => {
  const content = call.input.content ?? call.input.file_text
  const what = /^(?:Created |File created)/.test(call.output) ? "created" : "written"
  return typeof content === "string" ? { path, what, content } : { path, what }
})
const patched: Effects = (call) => patchEffects(String(call.input.input ?? call.input.patch ?? call.input.text ?? ""))
/** The editor tool of the API and of SWE-agent: one tool with a command. */
const edited: Effects = (call) => {
  const command = call.input.command
  if (command === "view") return read(call)
  return command === "create" ? written(call) : changed(call)
}

/** Tool names of the agents whose transcripts Strata imports, in lower case. */
const TOOLS: Readonly<Record<string, Effects>> = {
  read,
  read_file: read,
  view: read,
  write: written,
  write_file: written,
  create: written,
  edit: changed,
  multiedit: changed,
  notebookedit: changed,
  str_replace: changed,
  insert: changed,
  apply_patch: patched,
  patch: patched,
  str_replace_editor: edited,
  str_replace_based_edit_tool: edited,
  replace: changed,
  edit_file: changed,
}

/** The path argument of a file tool's call, as written. */
export const filePathOfCall = ({ tool, input }: Pick<FinishedCall, "tool" | "input">): string | undefined =>
  Object.hasOwn(TOOLS, tool.toLowerCase()) ? pathIn(input) : undefined

const SHELL_TOOLS = new Set([
  ...["bash", "shell", "exec_command", "shell_command", "run_command", "execute_bash", "local_shell", "bashexecution"],
  ...["run_shell_command", "run_in_terminal", "execute_command"],
])
/** Tools with one shell for all their calls, so that a `cd` lasts. */
const PERSISTENT_SHELLS = new Set(["Bash", "execute_bash"])
const RESET = /^Shell cwd was reset to (.+)$/m

export const isShellTool = (tool: string): boolean => SHELL_TOOLS.has(tool.toLowerCase())

export const fileEffects = (call: FinishedCall, place: CallLocation = {}): readonly FileEffect[] =>
  callEffects(call, place).effects

/** The effects of a call. A failed call changed nothing, unless it is a command of which only the last step failed. */
export function callEffects(call: FinishedCall, place: CallLocation = {}): CallEffects {
  const done = effectsByTool(call, { ...place, directory: place.directory ?? place.cwd })
  return call.changed ? { ...done, effects: mergeDiskChanges(done.effects, call.changed) } : done
}

function effectsByTool(call: FinishedCall, place: CallLocation): CallEffects {
  const { cwd, directory, ran = false } = place
  if (isShellTool(call.tool)) return call.failed && !ran ? { effects: [], directory } : commandEffects(call, place)
  const tool = call.tool.toLowerCase()
  // a call may use any name, including that of an inherited property
  const effects = call.failed || !Object.hasOwn(TOOLS, tool) ? [] : TOOLS[tool]!(call)
  return { effects: effects.map((effect) => ({ ...effect, path: relativePath(effect.path, cwd) })), directory }
}

/**
 * Merges effects with the changes found on disk, which take precedence. Details from the command's text, such as the content, are
 * preserved.
 */
function mergeDiskChanges(
  effects: readonly FileEffect[],
  changed: NonNullable<FinishedCall["changed"]>,
): readonly FileEffect[] {
  const found = new Map(changed.map(({ path, what }) => [path, what]))
  const agrees = ({ path, what }: FileEffect) => {
    const on = found.get(path)
    return on === undefined || (on === "deleted") === (what === "deleted")
  }
  const agreed = effects.filter(agrees)
  const known = new Set(agreed.map(({ path }) => path))
  return [...agreed, ...changed.filter(({ path }) => !known.has(path))]
}

/** Without a directory, a relative path stays as it is. */
const relativePath = (path: string, cwd: string | undefined): string =>
  cwd === undefined && isRelative(path) ? path : resolvePath(path, cwd)

function commandEffects(call: FinishedCall, { cwd, directory, isKnown }: CallLocation): CallEffects {
  const workdir = call.input.workdir ?? call.input.dir_path ?? call.input.cwd
  const from = typeof workdir === "string" && workdir !== "" ? resolvePath(workdir, cwd) : directory
  const command = scriptIn(call.input)
  const patched = command.includes("*** Begin Patch") && !call.failed ? patchEffects(command) : []
  const run = shellEffects({
    ...{ command, directory: from, start: cwd, failed: call.failed, output: call.output },
    ...(isKnown ? { isKnown } : {}),
  })
  const reset = RESET.exec(call.output)?.[1]?.trim()
  const lasts = PERSISTENT_SHELLS.has(call.tool)
  return {
    effects: [...patched.map((effect) => ({ ...effect, path: relativePath(effect.path, from) })), ...run.effects],
    directory: reset ?? (lasts ? (run.directory ?? cwd) : directory),
  }
}

/** The script of a command: a string, or the words of a list. */
function scriptIn(input: Input): string {
  const words = input.command ?? input.cmd
  if (typeof words === "string") return words
  if (!Array.isArray(words)) return ""
  const [shell, flag, script] = words.map(String)
  if (/(?:^|\/)(?:bash|sh|zsh)$/.test(shell ?? "") && /^-[a-z]*c$/.test(flag ?? "")) return script ?? ""
  return words.map((word) => `'${String(word).replaceAll("'", "'\\''")}'`).join(" ")
}

const PATCH_ACTIONS = { Add: "created", Update: "changed", Delete: "deleted" } as const

function patchEffects(patch: string): readonly FileEffect[] {
  const effects: FileEffect[] = []
  for (const [, mark, path, target] of patch.matchAll(/^\*\*\* (?:(Add|Update|Delete) File: (.+)|Move to: (.+))$/gm)) {
    if (target !== undefined) {
      const from = effects.pop()
      if (from) effects.push({ path: from.path, what: "deleted" })
      effects.push({ path: target.trim(), what: "created" })
    } else effects.push({ path: path!.trim(), what: PATCH_ACTIONS[mark as keyof typeof PATCH_ACTIONS] })
  }
  return effects
}
