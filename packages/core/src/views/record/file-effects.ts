/** What a finished tool call did to files: a table of tools, and the few shell commands that delete or move files. */
import { basename } from "node:path"
import type { FinishedCall } from "./tool-calls.ts"

export interface FileEffect {
  readonly path: string
  /** `written`: the whole file, new or not. */
  readonly what: "read" | "created" | "written" | "changed" | "deleted"
  /** The whole content, where the call shows it. */
  readonly content?: string
}

type Input = FinishedCall["input"]
type Effects = (call: FinishedCall) => readonly FileEffect[]

const pathIn = (input: Input): string | undefined => {
  const path = input.file_path ?? input.notebook_path ?? input.path ?? input.filePath
  return typeof path === "string" && path !== "" ? path : undefined
}

const withPath =
  (effect: (path: string, call: FinishedCall) => FileEffect): Effects =>
  (call) => {
    const path = pathIn(call.input)
    return path === undefined ? [] : [effect(path, call)]
  }

/** What our Read tool returns in place of content: the file is unchanged or empty. */
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
const ran: Effects = (call) => {
  const given = call.input.command ?? call.input.cmd
  return commandEffects(typeof given === "string" ? given : Array.isArray(given) ? given.join(" ") : "")
}
/** The editor tool of the API and of SWE-agent: one tool with a command. */
const edited: Effects = (call) => {
  const command = call.input.command
  if (command === "view") return read(call)
  return command === "create" ? written(call) : changed(call)
}

/** Tool names of the agents whose transcripts we import, in lower case. */
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
  bash: ran,
  shell: ran,
  exec_command: ran,
  shell_command: ran,
  execute_bash: ran,
}

/** A call that failed changed nothing. */
export function fileEffects(call: FinishedCall): readonly FileEffect[] {
  const tool = call.tool.toLowerCase()
  // a call may use any name, also that of an inherited property
  return call.failed || !Object.hasOwn(TOOLS, tool) ? [] : TOOLS[tool]!(call)
}

const PATCH_MARKS = { Add: "created", Update: "changed", Delete: "deleted" } as const

function patchEffects(patch: string): readonly FileEffect[] {
  const effects: FileEffect[] = []
  for (const [, mark, path, target] of patch.matchAll(/^\*\*\* (?:(Add|Update|Delete) File: (.+)|Move to: (.+))$/gm)) {
    if (target !== undefined) {
      const from = effects.pop()
      if (from) effects.push({ path: from.path, what: "deleted" })
      effects.push({ path: target.trim(), what: "created" })
    } else effects.push({ path: path!.trim(), what: PATCH_MARKS[mark as keyof typeof PATCH_MARKS] })
  }
  return effects
}

/** Deletions and moves by plain `rm`, `git rm`, `mv` with literal paths. The text does not show what globs and variables mean. */
function commandEffects(command: string): readonly FileEffect[] {
  const embedded = command.includes("*** Begin Patch") ? patchEffects(command) : []
  const simple = command.split(/&&|\|\||[;|\n]/).flatMap((part): FileEffect[] => {
    const words =
      part
        .trim()
        .match(/"[^"]*"|'[^']*'|\S+/g)
        ?.map((word) => word.replace(/^(["'])(.*)\1$/, "$2")) ?? []
    if (words[0] === "git") words.shift()
    const paths = words.slice(1).filter((word) => !word.startsWith("-"))
    if (paths.some((path) => /[*?$`<>{}]/.test(path))) return []
    if (words[0] === "rm") return paths.map((path) => ({ path, what: "deleted" }))
    const [from, to] = paths
    if (words[0] === "mv" && paths.length === 2) {
      const into = to!.endsWith("/") ? `${to}${basename(from!)}` : to!
      return [
        { path: from!, what: "deleted" },
        { path: into, what: "created" },
      ]
    }
    return []
  })
  return [...embedded, ...simple]
}
