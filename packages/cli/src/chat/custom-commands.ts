/**
 * Slash commands that are not built in: markdown files written for Claude Code or Strata (the user's own, and those of a trusted project),
 * skills, and prompts of MCP servers. The text after the name replaces `$ARGUMENTS`, `$1`, `$2` and so on.
 */

import type { EffectiveSettings } from "@strata/core"
import type { ServerPrompt, ToolServer } from "@strata/core/agent"
import { readMarkdown } from "@strata/core/base"
import { type AgentFile, homeAgentFiles } from "@strata/core/settings"
import { escapeInvisible } from "../display/escaped.ts"
import { firstLine } from "../display/text.ts"

export interface CustomCommand {
  readonly name: string
  /** Name with its folders: `frontend:test`. */
  readonly fullName: string
  readonly usage: string
  readonly about: string
  /** Text of the command's file. Empty for a prompt or a skill. */
  readonly text: string
  /** Permission rules that the file requests. They grant nothing without the user's consent. */
  readonly allowedTools?: readonly string[]
  /** Name of the skill that the command uses. */
  readonly skill?: string
  /** Prompt of an MCP server that the command uses. */
  readonly prompt?: ServerPrompt & { readonly server: string }
}

export interface CommandSources {
  readonly root: string
  readonly home: string | undefined
  readonly settings: Pick<EffectiveSettings, "commands">
  /** Each skill becomes a command, unless a file has the same name. */
  readonly skills?: readonly { readonly name: string; readonly description?: string }[]
  /** MCP servers, whose prompts become commands. */
  readonly servers?: readonly Pick<ToolServer, "name" | "prompts">[]
  /** Called with a sentence for each file that cannot be used. */
  readonly onProblem?: (problem: string) => void
}

const USAGE_CHARACTERS = 24 // limited so that the list fits a narrow screen
const DESCRIPTION_CHARACTERS = 48

/** Loads all custom commands, the user's own first. If two have the same short name, it runs the first. */
export async function loadCustomCommands(places: CommandSources): Promise<readonly CustomCommand[]> {
  const { root, home, settings, skills = [], servers = [], onProblem = () => undefined } = places
  const own = await homeAgentFiles({ root, home }, "command")
  for (const problem of [...own.problems, ...(settings.commands?.problems ?? [])]) onProblem(problem)
  const files = await Promise.all([...own.files, ...(settings.commands?.files ?? [])].map(commandFrom))
  const prompts = servers.flatMap(({ name, prompts: own = [] }) => own.map((prompt) => fromPrompt(name, prompt)))
  const taken = new Set(files.map(({ name }) => name))
  return [...files, ...skills.map(fromSkill).filter(({ name }) => !taken.has(name)), ...prompts]
}

async function commandFrom({ name: file, text }: AgentFile): Promise<CustomCommand> {
  const { values, body } = await readMarkdown(text)
  const path = file.replace(/^.*\.(?:strata|claude)\/commands\//, "").replace(/\.md$/i, "")
  const fullName = path.split("/").join(":").toLowerCase()
  const name = fullName.slice(fullName.lastIndexOf(":") + 1)
  const hint = values?.get("argument-hint")
  const about = values?.get("description") ?? body
  const usage = `/${name}${typeof hint === "string" ? ` ${hint}` : ""}`
  const allowedTools = toolsIn(values?.get("allowed-tools"))
  return {
    ...{ name, fullName, text: body },
    usage: firstLine(usage, USAGE_CHARACTERS),
    about: firstLine(String(about), DESCRIPTION_CHARACTERS),
    ...(allowedTools.length > 0 ? { allowedTools } : {}),
  }
}

/** Accepts a list or one line with commas. A pattern may itself contain commas. */
function toolsIn(given: unknown): readonly string[] {
  const items = Array.isArray(given) ? given.map(String) : (String(given ?? "").match(/[^,(\s]+(?:\([^)]*\))?/g) ?? [])
  return items.map((item) => item.trim()).filter((item) => item !== "")
}

function fromSkill({
  name: skill,
  description = "",
}: {
  readonly name: string
  readonly description?: string
}): CustomCommand {
  const name = skill.toLowerCase()
  return {
    ...{ name, fullName: name, text: "", skill },
    usage: firstLine(`/${escapeInvisible(name)}`, USAGE_CHARACTERS),
    about: firstLine(escapeInvisible(firstLine(description)), DESCRIPTION_CHARACTERS),
  }
}

function fromPrompt(server: string, prompt: ServerPrompt): CustomCommand {
  const name = prompt.command.toLowerCase()
  return {
    ...{ name, fullName: name, text: "", prompt: { ...prompt, server } },
    usage: firstLine(promptUsage(prompt), USAGE_CHARACTERS),
    about: firstLine(escapeInvisible(firstLine(prompt.description)), DESCRIPTION_CHARACTERS),
  }
}

/** `/mcp__db__report TABLE [YEAR]` */
export function promptUsage(prompt: Pick<ServerPrompt, "command" | "arguments">): string {
  const shown = prompt.arguments.map(({ name, isRequired }) => {
    const upper = escapeInvisible(name).toUpperCase()
    return isRequired ? upper : `[${upper}]`
  })
  return [`/${prompt.command}`, ...shown].join(" ")
}

export interface FoundCustomCommand {
  readonly command: CustomCommand
  /** Text after the name. */
  readonly given: string
}

/** Finds the command of a line, or `undefined` if no command has this name. */
export function findCustomCommand(line: string, commands: readonly CustomCommand[]): FoundCustomCommand | undefined {
  const [, typed, given = ""] = /^\/([^\s/]+)(?:\s+(.*))?$/s.exec(line.trim()) ?? []
  const wanted = typed?.toLowerCase()
  const command = commands.find(({ name }) => name === wanted) ?? commands.find(({ fullName }) => fullName === wanted)
  return command && { command, given }
}

/** Splits arguments at blanks. Quotes keep several words together. */
export const splitArguments = (given: string): readonly string[] =>
  [...given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "")

const PLACEHOLDER = /\$ARGUMENTS|\$([1-9])(?!\d)/g
const COMMAND = /!`([^`\n]+)`/g

/** A chunk of the message: text, or a command whose output replaces it. */
export type CommandChunk = { readonly text: string } | { readonly run: string }

/** Splits and fills in one pass, so that arguments are never read as placeholders or commands. */
export function splitCommand(text: string, given: string): readonly CommandChunk[] {
  const isFilled = text.search(PLACEHOLDER) >= 0
  const template = isFilled || given === "" ? text : `${text}\n\nApply it to: $ARGUMENTS`
  const parts: CommandChunk[] = []
  let at = 0
  for (const match of template.matchAll(COMMAND)) {
    parts.push({ text: fillIn(template.slice(at, match.index), given) }, { run: fillIn(match[1]!, given) })
    at = match.index + match[0].length
  }
  parts.push({ text: fillIn(template.slice(at), given) })
  return parts.filter((part) => "run" in part || part.text !== "")
}

function fillIn(text: string, given: string): string {
  const words = splitArguments(given)
  return text.replace(PLACEHOLDER, (_, nth?: string) => (nth === undefined ? given : (words[Number(nth) - 1] ?? "")))
}
