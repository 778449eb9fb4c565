/** A second, independent analysis of the tool calls in a recording, for tests of the views and of compactions. */
import { isToolResult, isToolUse, resultBlocks, textOf } from "../src/messages/blocks.ts"
import { contentOf, type Message } from "../src/messages/messages.ts"

export interface Call {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly failed: boolean
  readonly output: string
}

export function callsIn(messages: readonly Message[]): readonly Call[] {
  const open = new Map<string, Pick<Call, "tool" | "input">>()
  const calls: Call[] = []
  for (const message of messages) {
    if (message.isSidechain || (message.type !== "assistant" && message.type !== "user")) continue
    for (const block of contentOf(message)) {
      if (isToolUse(block)) open.set(block.id, { tool: block.name, input: block.input as Call["input"] })
      if (!isToolResult(block)) continue
      const call = open.get(block.tool_use_id)
      if (call) calls.push({ ...call, failed: block.is_error === true, output: textOf(resultBlocks(block)) })
      open.delete(block.tool_use_id)
    }
  }
  return calls
}

/** The heading under which each file belongs, according to the calls of file tools. */
export function fatesFrom(calls: readonly Call[]): ReadonlyMap<string, string> {
  const fates = new Map<string, string>()
  const change = (path: string) => fates.set(path, fates.get(path) === "Created:" ? "Created:" : "Changed:")
  for (const { tool, input, failed, output } of calls) {
    if (failed) continue
    const path = String(input.file_path ?? input.path)
    const what = tool === "str_replace_editor" ? String(input.command) : tool.toLowerCase()
    if (what === "apply_patch") {
      for (const [, added] of String(input.text).matchAll(/^\*\*\* Add File: (.+)$/gm)) fates.set(added!, "Created:")
      for (const [, updated] of String(input.text).matchAll(/^\*\*\* Update File: (.+)$/gm)) change(updated!)
    } else if (what === "read" || what === "view") fates.set(path, fates.get(path) ?? READ_ONLY)
    else if (["edit", "multiedit", "str_replace", "insert"].includes(what)) change(path)
    else if (what === "write" || what === "create") {
      if (!fates.has(path) || output.startsWith("File created")) fates.set(path, "Created:")
      else change(path)
    }
  }
  return fates
}

export const READ_ONLY = "Read and not changed:"

/** Whether a command may have written a path: a writing command names it. Its end may come from a variable. */
export function mayBeWrittenByShell(calls: readonly Call[]): (path: string) => boolean {
  const commands = calls
    .map(({ input }) => String(input.command ?? input.cmd ?? ""))
    .filter((command) => />|\b(?:rm|mv|cp|tee|touch|sed|perl|git|curl|go|ruff|gofmt|npx|python3?|node)\b/.test(command))
  const nameOf = (path: string) =>
    path
      .split(/[/\\]/)
      .at(-1)!
      .replace(/(?<=.)\.[^.]*$/, "")
  return (path) => commands.some((command) => command.includes(nameOf(path)))
}

/** The prefixes of the commands whose last run failed. */
export function lastFailed(calls: readonly Call[]): readonly string[] {
  const last = new Map<string, Call>()
  for (const call of calls) if (call.tool === "Bash") last.set(String(call.input.command), call)
  return [...last].filter(([, call]) => call.failed).map(([command]) => prefixOf(command))
}

/** Long enough to distinguish commands, shorter than the displayed part of one. */
export const prefixOf = (command: string): string => command.slice(0, 300)

export function unquoted(shown: string): string {
  const quoted = /^("(?:[^"\\]|\\.)*")/.exec(shown)?.[1]
  return quoted ? (JSON.parse(quoted) as string) : shown
}
