/**
 * Builds the message of a custom command. Shell commands in it run only as the permission rules allow, and tools that it wants to use
 * without questions need the user's consent. Output of a server or a command is attached as content.
 */

import { isPermissionRule } from "@strata/core/base"
import type { Attachment } from "@strata/core/messages"
import { escapeInvisible } from "../display/escaped.ts"
import type { SessionAgent } from "../session.ts"
import { type CustomCommand, findCustomCommand, promptUsage, splitArguments, splitCommand } from "./custom-commands.ts"
import type { Ask } from "./terminal-user.ts"

export type CustomMessage =
  /** `attached` is inserted before the text. */
  | { readonly state: "ready"; readonly text: string; readonly attached: readonly Attachment[] }
  /** `why` is a sentence for the user. */
  | { readonly state: "not sent"; readonly why: string }

export interface CustomMessageOptions {
  readonly commands: readonly CustomCommand[]
  readonly agent: Pick<SessionAgent, "allow" | "runForUser">
  readonly ask: Ask
  /** Lists of rules that the user has already decided about in this chat. */
  readonly asked: Set<string>
  /** Whether the agent is working. */
  readonly isBusy: boolean
  readonly signal: AbortSignal
}

const OUTPUT_CHARACTERS = 30_000 // per command, about 8,000 tokens

/** Builds the message of a line, or returns `undefined` if the line is not a custom command. */
export async function customMessage(line: string, parts: CustomMessageOptions): Promise<CustomMessage | undefined> {
  const found = findCustomCommand(line, parts.commands)
  if (!found) return undefined
  const { command, given } = found
  const pieces = splitCommand(command.text, given)
  if (parts.isBusy && (command.prompt || command.skill !== undefined || pieces.some((piece) => "run" in piece)))
    return { state: "not sent", why: `/${command.name} must wait: interrupt the agent with Esc first.` }
  if (command.prompt) return fromPrompt(command.prompt, { line, given, signal: parts.signal })
  if (command.skill !== undefined) return fromSkill(command.skill, { line, given, ...parts })
  await agreeOnTools(command, parts)
  return fromFile(pieces, parts)
}

/** Builds messages one at a time. Commands that run before a message is sent can be stopped. */
export class CustomMessages {
  readonly #asked = new Set<string>()
  #preparing: AbortController | undefined

  async messageFor(
    line: string,
    parts: Omit<CustomMessageOptions, "asked" | "signal">,
  ): Promise<CustomMessage | undefined> {
    const preparing = new AbortController()
    this.#preparing = preparing
    try {
      return await customMessage(line, { ...parts, asked: this.#asked, signal: preparing.signal })
    } finally {
      this.#preparing = undefined
    }
  }

  /** Returns whether there was anything to stop. */
  stop(): boolean {
    this.#preparing?.abort()
    return this.#preparing !== undefined
  }
}

interface SentMessage {
  readonly line: string
  readonly given: string
  readonly signal: AbortSignal
}

/** Attaches the server's prompt. Only the typed line counts as the user's text. */
async function fromPrompt(
  prompt: NonNullable<CustomCommand["prompt"]>,
  { line, given, signal }: SentMessage,
): Promise<CustomMessage> {
  const values = splitArguments(given)
  const missing = prompt.arguments.filter(({ isRequired }, i) => isRequired && values[i] === undefined)
  if (missing.length > 0) {
    const wanted = missing.map(({ name, description }) =>
      escapeInvisible(description ? `${name} (${description})` : name),
    )
    return { state: "not sent", why: `${promptUsage(prompt)} also needs ${wanted.join(", ")}.` }
  }
  const last = prompt.arguments.length - 1
  const named = prompt.arguments.flatMap(({ name }, i) => {
    const value = i === last ? values.slice(i).join(" ") : values[i]
    return value === undefined || value === "" ? [] : [[name, value] as const]
  })
  const content = await prompt.text(Object.fromEntries(named), signal)
  const { server, name } = prompt
  return { state: "ready", text: line, attached: [{ type: "mcp_prompt", server, prompt: name, content }] }
}

/** Attaches the skill's instructions, as if the model had used the skill. Only the typed line counts as the user's text. */
async function fromSkill(
  name: string,
  { line, given, agent, signal }: SentMessage & Pick<CustomMessageOptions, "agent">,
): Promise<CustomMessage> {
  const input = { name, ...(given === "" ? {} : { args: given }) }
  const end = await agent.runForUser({ tool: "Skill", input }, signal)
  if (signal.aborted) return { state: "not sent", why: "Interrupted. Nothing was sent." }
  if (end.state === "refused" || end.isError) {
    const why = end.state === "refused" ? end.why : end.text
    return {
      state: "not sent",
      why: `Nothing was sent, because the skill ${escapeInvisible(name)} was not used: ${escapeInvisible(why)}`,
    }
  }
  return { state: "ready", text: line, attached: end.attachments }
}

/** Asks once per chat for each list of rules. Without consent, each call is asked about as usual. */
async function agreeOnTools({ name, allowedTools = [] }: CustomCommand, { agent, ask, asked }: CustomMessageOptions) {
  const rules = allowedTools.filter(isPermissionRule)
  const key = JSON.stringify([name, rules])
  if (rules.length === 0 || asked.has(key)) return
  asked.add(key)
  const answer = await ask({
    title: `/${escapeInvisible(name)} wants to use tools without asking you`,
    body: { form: "text", text: rules.map((rule) => escapeInvisible(rule)).join("\n") },
    options: [
      { label: "No, ask me as usual", letter: "n" },
      { label: "Yes, for the rest of this conversation", letter: "y" },
    ],
  })
  if (answer.type === "chosen" && answer.index === 1) for (const rule of rules) agent.allow(rule)
}

async function fromFile(
  pieces: ReturnType<typeof splitCommand>,
  { agent, signal }: CustomMessageOptions,
): Promise<CustomMessage> {
  const texts: string[] = []
  const attached: Attachment[] = []
  for (const piece of pieces) {
    if ("text" in piece) {
      texts.push(piece.text)
      continue
    }
    const { run: command } = piece
    const end = await agent.runForUser({ tool: "Bash", input: { command, description: "for a slash command" } }, signal)
    if (signal.aborted) return { state: "not sent", why: "Interrupted. Nothing was sent." }
    if (end.state === "refused")
      return {
        state: "not sent",
        why: `Nothing was sent, because ${escapeInvisible(command)} did not run: ${escapeInvisible(end.why)}.`,
      }
    attached.push({ type: "command_output", command, content: shortened(end.text) })
    texts.push(`(the output of ${command}, above)`)
  }
  return { state: "ready", text: texts.join("").trim(), attached }
}

function shortened(text: string): string {
  const more = text.length - OUTPUT_CHARACTERS
  return more > 0 ? `${text.slice(0, OUTPUT_CHARACTERS).toWellFormed()}\n… ${more} more characters` : text
}
