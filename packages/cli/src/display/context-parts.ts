/** Groups the contents of a context into classes. Each has a letter, so that the picture works without colours. */
import type { ContextBreakdown } from "@strata/core/tokens"
import { CONTEXT_LABELS } from "@strata/page"
import type { Style } from "./terminal.ts"

export interface ContextPart {
  readonly kind: PartKind
  readonly tokens: number
}

export interface PartStyle {
  readonly label: string
  readonly letter: string
  readonly colour:
    | "gray"
    | "green"
    | "blue"
    | "magenta"
    | "yellow"
    | "cyan"
    | "red"
    | "white"
    | "greenBright"
    | "blueBright"
}

export const PARTS = {
  prompt: { label: CONTEXT_LABELS.prompt, letter: "S", colour: "gray" },
  human: { label: CONTEXT_LABELS.human, letter: "U", colour: "green" },
  assistant: { label: CONTEXT_LABELS.assistant, letter: "A", colour: "blue" },
  thinking: { label: CONTEXT_LABELS.thinking, letter: "T", colour: "magenta" },
  calls: { label: CONTEXT_LABELS.calls, letter: "C", colour: "yellow" },
  files: { label: CONTEXT_LABELS.files, letter: "R", colour: "cyan" },
  commands: { label: CONTEXT_LABELS.commands, letter: "B", colour: "red" },
  searches: { label: CONTEXT_LABELS.searches, letter: "G", colour: "greenBright" },
  results: { label: CONTEXT_LABELS.otherResults, letter: "O", colour: "white" },
  attachments: { label: CONTEXT_LABELS.attachments, letter: "M", colour: "blueBright" },
  other: { label: CONTEXT_LABELS.other, letter: "Z", colour: "gray" },
} as const satisfies Readonly<Record<string, PartStyle>>

export type PartKind = keyof typeof PARTS

/** Tool names of all supported agents, in lower case. */
const RESULTS_OF: readonly { readonly kind: PartKind; readonly tools: ReadonlySet<string> }[] = [
  { kind: "files", tools: new Set(["read", "read_file", "view", "open", "notebookread"]) },
  {
    kind: "commands",
    tools: new Set([
      "bash",
      "bashoutput",
      "shell",
      "exec_command",
      "shell_command",
      "execute_bash",
      "local_shell",
      "write_stdin",
      "bashexecution",
      "run",
    ]),
  },
  {
    kind: "searches",
    tools: new Set([
      "grep",
      "glob",
      "ls",
      "find",
      "search",
      "websearch",
      "web_search",
      "find_file",
      "search_dir",
      "search_file",
    ]),
  },
]

/** `prompt`: tokens of system prompt and tools, if known. */
export function contextParts(accounting: ContextBreakdown, prompt = 0): readonly ContextPart[] {
  const sums = new Map<PartKind, number>()
  const add = (kind: PartKind, tokens: number) => sums.set(kind, (sums.get(kind) ?? 0) + tokens)
  add("prompt", Math.max(0, prompt))
  add("human", accounting.human)
  add("assistant", accounting.assistant)
  add("thinking", accounting.thinking)
  add("calls", total(Object.values(accounting.toolRequests)))
  for (const [tool, tokens] of Object.entries(accounting.toolResults)) add(kindOfResult(tool), tokens)
  add("attachments", total(Object.values(accounting.attachments).map(({ tokens }) => tokens)))
  add("other", accounting.other + accounting.commandOutput)
  return (Object.keys(PARTS) as PartKind[])
    .map((kind) => ({ kind, tokens: sums.get(kind) ?? 0 }))
    .filter(({ tokens }) => tokens > 0)
}

function kindOfResult(tool: string): PartKind {
  const name = tool.toLowerCase()
  return RESULTS_OF.find(({ tools }) => tools.has(name))?.kind ?? "results"
}

/** A part as a coloured block, or as its letter. */
export function partSign(kind: PartKind, { style, count = 1 }: { style: Style; count?: number }): string {
  const { colour, letter } = PARTS[kind]
  return style.isColorSupported ? style[colour]("█".repeat(count)) : letter.repeat(count)
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
