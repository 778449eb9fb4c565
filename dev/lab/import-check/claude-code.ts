/**
 * Transcripts of Claude Code, read from the raw JSON. Changed files are those of the structured results and of the program's own backups,
 * neither of which the importer reads. A response counts once, with the largest usage of its lines.
 */
import { Bill, type Raw, type RecordedFacts, rawLines, textsIn } from "./recorded.ts"
import { surelyWritten } from "./shell-writes.ts"

/** Patterns of text that Claude Code itself puts into user messages. */
const FROM_PROGRAM = [
  ...["<command-name>", "<command-message>", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>"],
  ...[
    "<task-notification>",
    "<agent-notification>",
    "<system-reminder>",
    "<ide_",
    "[Request interrupted by user",
    "Caveat: The messages",
  ],
  ...['{"task_id"', "Operation stopped by hook: "],
]
const REFUSED = "the user said:\n"

export const isClaudeCode = (lines: readonly Raw[]): boolean => lines.some((line) => "parentUuid" in line)

export function claudeCode(text: string): RecordedFacts {
  const lines = rawLines(text)
  const billed = billedIn(lines)
  return { userTexts: userTextsIn(lines), changed: changedIn(lines), ...(billed ? { billed } : {}) }
}

function userTextsIn(lines: readonly Raw[]): readonly string[] {
  const main = once(lines).filter(({ isSidechain }) => isSidechain !== true)
  const typed = main.flatMap((line) => [...messageOf(line), ...inResultsOf(line)])
  return [...typed, ...onlyQueued(lines, typed)]
}

/** Removes duplicates: Claude Code writes some lines twice. */
function once(lines: readonly Raw[]): readonly Raw[] {
  const seen = new Set<string>()
  return lines.filter(({ uuid }) => uuid === undefined || (!seen.has(uuid) && seen.add(uuid)))
}

function messageOf({ type, isMeta, isCompactSummary, origin, message, attachment }: Raw): readonly string[] {
  if (attachment?.type === "queued_command") {
    return (attachment.commandMode ?? "prompt") === "prompt" ? textsIn(attachment.prompt).filter(isTyped) : []
  }
  if (type !== "user" || isMeta || isCompactSummary || (origin && origin.kind !== "human")) return []
  const spoken = textsIn(message?.content).filter(isTyped).join("\n")
  return spoken.trim() === "" ? [] : [spoken]
}

const isTyped = (text: string): boolean =>
  text.trim() !== "" && !FROM_PROGRAM.some((start) => text.trimStart().startsWith(start))

function inResultsOf({ type, message, toolUseResult }: Raw): readonly string[] {
  if (type !== "user" || !Array.isArray(message?.content)) return []
  const results = message.content.filter((block: Raw) => block.type === "tool_result")
  const remarks = results.flatMap((block: Raw) => {
    const text = textsIn(block.content).join("\n")
    const at = block.is_error === true ? text.indexOf(REFUSED) : -1
    return at < 0 ? [] : [text.slice(at + REFUSED.length).split("\n\nNote: The user's next message")[0]!]
  })
  const answers = results.length > 0 && toolUseResult?.questions ? Object.values(toolUseResult.answers ?? {}) : []
  return [...remarks, ...answers].map(String).filter((text) => text.trim() !== "")
}

/** Queued input that was added to a running turn and is recorded nowhere else. */
function onlyQueued(lines: readonly Raw[], typed: readonly string[]): readonly string[] {
  const queue = lines.filter(({ type }) => type === "queue-operation")
  const inserted = queue.filter(({ operation }) => operation === "remove").length
  if (inserted === 0) return []
  // `popAll` returns the input to the user, who may send something else
  const returned = queue.flatMap(({ operation, content }) => (operation === "popAll" ? String(content) : [])).join("\n")
  const waiting = queue.flatMap(({ operation, content }) => (operation === "enqueue" && content ? [content] : []))
  const isRecorded = (input: string) => typed.some((text) => text.includes(input.trim()))
  return waiting
    .filter((input) => !returned.includes(input) && isTyped(input) && !input.startsWith("/") && !isRecorded(input))
    .slice(0, inserted)
}

function changedIn(lines: readonly Raw[]): readonly string[] {
  const calls = new Map<string, Raw>()
  const changed = new Set<string>()
  for (const line of lines) {
    if (line.isSidechain === true) continue
    const blocks: readonly Raw[] = Array.isArray(line.message?.content) ? line.message.content : []
    for (const block of blocks) {
      if (block.type === "tool_use") calls.set(block.id, block)
      if (block.type !== "tool_result") continue
      const call = calls.get(block.tool_use_id)
      if (block.is_error !== true && call?.name === "Bash")
        for (const path of surelyWritten(String(call.input.command))) changed.add(path)
    }
    const { filePath, structuredPatch } = line.toolUseResult ?? {}
    if (typeof filePath === "string" && Array.isArray(structuredPatch)) changed.add(filePath)
  }
  return [...changed]
}

function billedIn(lines: readonly Raw[]): RecordedFacts["billed"] {
  const responses = new Map<string, Raw>()
  for (const line of lines) {
    const message = line.type === "progress" ? line.data?.message?.message : line.message
    const isAnswer = message?.role === "assistant" && message.usage && message.model !== "<synthetic>"
    if (!isAnswer) continue
    const key = message.id ?? line.uuid
    const before = responses.get(key)
    if (!before || before.usage.output_tokens <= message.usage.output_tokens) responses.set(key, message)
  }
  const bill = new Bill()
  for (const { model, usage } of responses.values())
    bill.add(model, {
      input: usage.input_tokens,
      cacheRead: usage.cache_read_input_tokens ?? 0,
      cacheWrite: usage.cache_creation_input_tokens ?? 0,
      output: usage.output_tokens,
    })
  return responses.size === 0 ? undefined : bill.models
}
