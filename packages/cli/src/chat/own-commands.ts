/**
 * Slash commands that people wrote as markdown files, for Claude Code or for Strata: the person's own, and those of a trusted project.
 * The text of one is sent as the person's message. What follows the name is filled in for `$ARGUMENTS`, `$1`, `$2` and so on.
 */
import { type AgentFile, homeAgentFiles } from "@strata/core/internal/base/agent-files"
import type { EffectiveSettings } from "@strata/core/internal/base/settings"
import { readMarkdown } from "@strata/core/internal/team/definitions/frontmatter"
import { firstLine } from "../display/text.ts"

export interface OwnCommand {
  readonly name: string
  /** With the folders it is in: `frontend:test`. */
  readonly fullName: string
  readonly usage: string
  readonly about: string
  readonly text: string
}

export interface CommandPlaces {
  readonly root: string
  readonly home: string | undefined
  readonly settings: Pick<EffectiveSettings, "commands">
}

const USAGE_CHARACTERS = 24 // the list must fit into a narrow screen
const ABOUT_CHARACTERS = 48

/** The person's own come first. Of two with the same name, the first counts under its short name. */
export async function loadOwnCommands({ root, home, settings }: CommandPlaces): Promise<readonly OwnCommand[]> {
  const own = await homeAgentFiles({ root, home }, "command")
  return Promise.all([...own.files, ...(settings.commands?.files ?? [])].map(commandFrom))
}

async function commandFrom({ name: file, text }: AgentFile): Promise<OwnCommand> {
  const { values, body } = await readMarkdown(text)
  const path = file.replace(/^.*\.(?:strata|claude)\/commands\//, "").replace(/\.md$/i, "")
  const fullName = path.split("/").join(":").toLowerCase()
  const name = fullName.slice(fullName.lastIndexOf(":") + 1)
  const hint = values?.get("argument-hint")
  const about = values?.get("description") ?? body
  const usage = `/${name}${typeof hint === "string" ? ` ${hint}` : ""}`
  return {
    ...{ name, fullName, text: body },
    usage: firstLine(usage, USAGE_CHARACTERS),
    about: firstLine(String(about), ABOUT_CHARACTERS),
  }
}

/** What to send for a line such as `/review src/a.ts`. `undefined` if none of the commands has this name. */
export function expandedCommand(line: string, commands: readonly OwnCommand[]): string | undefined {
  const [, given, rest = ""] = /^\/([^\s/]+)(?:\s+(.*))?$/s.exec(line.trim()) ?? []
  const wanted = given?.toLowerCase()
  const command = commands.find(({ name }) => name === wanted) ?? commands.find(({ fullName }) => fullName === wanted)
  return command && filledIn(command.text, rest)
}

/** In one pass, so that arguments are never read as placeholders. */
function filledIn(text: string, given: string): string {
  const words = [...given.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "")
  const placeholder = /\$ARGUMENTS|\$([1-9])(?!\d)/g
  if (text.search(placeholder) < 0) return given === "" ? text : `${text}\n\nApply it to: ${given}`
  return text.replace(placeholder, (_, nth?: string) => (nth === undefined ? given : (words[Number(nth) - 1] ?? "")))
}
