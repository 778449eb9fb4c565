/**
 * Loads agent definitions from the home directory and then from a trusted project. A file that cannot be used is reported in a sentence,
 * and the others still work. The same files always give the same list.
 */

import { readMarkdown } from "../../base/files.ts"
import { escapeInvisible } from "../../base/text.ts"
import { cut } from "../../memory/topic-file.ts"
import { type AgentFile, type AgentFiles, homeAgentFiles } from "../../settings/agent-files.ts"
import { type AgentDefinition, isAgentName, MEMORY_SCOPES, NAME_RULE, type ToolLists, toolNames } from "./definition.ts"

export interface DefinitionSources {
  /** The root directory of Strata. */
  readonly root: string
  /** Home directory of the user. */
  readonly home: string | undefined
  /** Agent files of the project that the user trusted: `agents` of the effective settings. */
  readonly project?: AgentFiles | undefined
}

export interface LoadedDefinitions {
  /** Sorted by name. If a name occurs twice, the first definition applies. */
  readonly definitions: readonly AgentDefinition[]
  /** One sentence per problem. */
  readonly problems: readonly string[]
}

const MAX_NAMED = 10 // maximum number of agents in one sentence

export async function loadAgentDefinitions({ root, home, project }: DefinitionSources): Promise<LoadedDefinitions> {
  const own = await homeAgentFiles({ root, home })
  const found = new Definitions()
  for (const file of [...own.files, ...(project?.files ?? [])]) await found.add(file)
  return {
    definitions: found.definitions(),
    problems: [...own.problems, ...(project?.problems ?? []), ...found.problems()],
  }
}

class Definitions {
  /** Definitions by lower-case name, because names that differ only in case would share a directory on some systems. */
  readonly #byName = new Map<string, AgentDefinition>()
  readonly #bad: string[] = []
  readonly #remarks = new Map<Remark, string[]>()

  async add(file: AgentFile): Promise<void> {
    const parsed = await parseDefinition(file)
    if (parsed.outcome === "bad") this.#refuse(file, parsed.why)
    if (parsed.outcome !== "agent") return
    const { definition, remarks } = parsed
    const key = definition.name.toLowerCase()
    const earlier = this.#byName.get(key)
    if (earlier) return this.#refuse(file, `${earlier.source} already defines the agent ${earlier.name}`)
    this.#byName.set(key, definition)
    for (const remark of remarks) this.#remarks.set(remark, [...(this.#remarks.get(remark) ?? []), definition.name])
  }

  definitions(): readonly AgentDefinition[] {
    return [...this.#byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  problems(): readonly string[] {
    const remarks = [...this.#remarks].map(([remark, names]) => {
      const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : []
      const listed = [...names.slice(0, MAX_NAMED), ...more].join(", ")
      return `In the agent${names.length === 1 ? "" : "s"} ${listed}, ${escapeInvisible(remark)}.`
    })
    return [...this.#bad, ...remarks]
  }

  #refuse({ name }: AgentFile, why: string): void {
    this.#bad.push(`The agent file ${name} is not used, because ${escapeInvisible(why)}.`)
  }
}

/** One parsed definition file. Unsupported keys that would change the agent's behaviour are reported as remarks. */
type ParsedFile =
  | { readonly outcome: "agent"; readonly definition: AgentDefinition; readonly remarks: readonly Remark[] }
  /** Documentation, such as a README. */
  | { readonly outcome: "no agent" }
  | { readonly outcome: "bad"; readonly why: string }

/** A setting that Strata does not support. Files with the same remark are reported in one sentence. */
type Remark = string

const MAX_DESCRIPTION = 1_024 // characters; the listing is sent in every conversation
const MAX_TOOLS = 200
const MAX_TURNS = 10_000

/** Unsupported keys of the format that would change an agent's behaviour, and the remark about each. */
const NOT_SUPPORTED: Readonly<Record<string, string>> = {
  permissionMode: "permissionMode is ignored: an agent works in the permission mode of its parent",
  hooks: "hooks is ignored: hooks come from the settings",
  mcpServers: "mcpServers is ignored: an agent uses the servers of its parent",
  skills: "skills is ignored: an agent loads skills with the Skill tool",
  effort: "effort is ignored: an agent thinks as its parent does",
  initialPrompt: "initialPrompt is ignored: an agent starts with its task",
}

async function parseDefinition({ name: file, text }: AgentFile): Promise<ParsedFile> {
  const { values, body } = await readMarkdown(text)
  if (!values)
    return isReadme(file) ? { outcome: "no agent" } : bad("it has no frontmatter with a name and a description")
  const name = textOf(values.get("name")) || nameFrom(file)
  if (!isAgentName(name))
    return bad(`${JSON.stringify(name.slice(0, 80))} cannot be the name of an agent: ${NAME_RULE}`)
  const description = textOf(values.get("description")).replace(/\s+/g, " ")
  if (description === "") return bad("it has no description, so no model would know when to use it")
  if (body === "") return bad("it has no instructions after its frontmatter")
  const remarks: Remark[] = Object.entries(NOT_SUPPORTED).flatMap(([key, remark]) =>
    isSet(values.get(key)) ? [remark] : [],
  )
  const reading = new Fields(values, remarks)
  const definition: AgentDefinition = {
    name,
    description: cut(description, MAX_DESCRIPTION),
    prompt: body,
    ...reading.tools("tools"),
    ...reading.tools("disallowedTools"),
    ...reading.model(),
    ...reading.memory(),
    ...reading.maxTurns(),
    ...reading.switch("background"),
    ...reading.isolation(),
    source: file,
  }
  return { outcome: "agent", definition, remarks }
}

const bad = (why: string): ParsedFile => ({ outcome: "bad", why })

const isReadme = (file: string): boolean => /(?:^|[/\\])readme\.md$/i.test(file)

const nameFrom = (file: string): string => file.replace(/^.*[/\\]/, "").replace(/\.md$/i, "")

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value).trim() : ""

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0)

class Fields {
  readonly #values: ReadonlyMap<string, unknown>
  readonly #remarks: Remark[]

  constructor(values: ReadonlyMap<string, unknown>, remarks: Remark[]) {
    this.#values = values
    this.#remarks = remarks
  }

  /** Parses a comma-separated text or a list. `*` in `tools` means all tools. */
  tools(key: keyof ToolLists): ToolLists {
    const value = this.#values.get(key)
    if (value === undefined || value === null || value === "") return {}
    const items = Array.isArray(value) ? value.flatMap((item) => splitTools(textOf(item))) : splitTools(textOf(value))
    if (key === "tools" && items.includes("*")) return {}
    const { names, remarks } = toolNames(items.slice(0, MAX_TOOLS), key)
    this.#remarks.push(...remarks)
    return { [key]: names }
  }

  model(): Pick<AgentDefinition, "model"> {
    const model = textOf(this.#values.get("model"))
    return model === "" || model.toLowerCase() === "inherit" ? {} : { model }
  }

  memory(): Pick<AgentDefinition, "memory"> {
    return this.#oneOf("memory", MEMORY_SCOPES)
  }

  isolation(): Pick<AgentDefinition, "isolation"> {
    return this.#oneOf("isolation", ["worktree"])
  }

  #oneOf(key: string, allowed: readonly string[]): object {
    const given = this.#values.get(key)
    if (!isSet(given) || given === false || given === "none") return {}
    if (allowed.includes(given as string)) return { [key]: given }
    return this.#ignored(key, allowed.map((one) => `"${one}"`).join(", "))
  }

  maxTurns(): Pick<AgentDefinition, "maxTurns"> {
    const given = this.#values.get("maxTurns")
    if (!isSet(given)) return {}
    const turns = Number(given)
    if (Number.isInteger(turns) && turns > 0 && turns <= MAX_TURNS) return { maxTurns: turns }
    return this.#ignored("maxTurns", `a whole number from 1 to ${MAX_TURNS}`)
  }

  switch(key: "background"): Pick<AgentDefinition, "background"> {
    const given = this.#values.get(key)
    if (!isSet(given)) return {}
    if (given === true || given === "true") return { [key]: true }
    return given === false || given === "false" ? {} : this.#ignored(key, "true or false")
  }

  #ignored(key: string, allowed: string): object {
    this.#remarks.push(`${key} is ignored: it must be ${allowed}`)
    return {}
  }
}

/** Splits at commas, except inside the parentheses of a pattern. */
function splitTools(text: string): readonly string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((item) => item.trim())
    .filter((item) => item !== "")
}
