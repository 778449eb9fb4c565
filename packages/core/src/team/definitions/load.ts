/**
 * Loads the agent definitions that count: those in the home directory, then those of a trusted project. A file that cannot be used costs
 * a sentence, and the others still work. The same files always give the same list.
 */
import { type AgentFile, type AgentFiles, homeAgentFiles } from "../../base/agent-files.ts"
import { escaped } from "../../base/escaped-text.ts"
import type { AgentDefinition } from "./definition.ts"
import { parseDefinition, type Remark } from "./parse-definition.ts"

export interface DefinitionPlaces {
  /** The root directory of Strata. */
  readonly root: string
  /** The home directory of the person. */
  readonly home: string | undefined
  /** What the project brings and a person trusted: `agents` of the effective settings. */
  readonly project?: AgentFiles | undefined
}

export interface LoadedDefinitions {
  /** The first of a name counts. Sorted by name. */
  readonly definitions: readonly AgentDefinition[]
  /** A sentence each. */
  readonly problems: readonly string[]
}

const MOST_NAMED = 10 // files in one sentence

export async function loadAgentDefinitions({ root, home, project }: DefinitionPlaces): Promise<LoadedDefinitions> {
  const own = await homeAgentFiles({ root, home })
  const found = new Definitions()
  for (const file of [...own.files, ...(project?.files ?? [])]) await found.add(file)
  return {
    definitions: found.definitions(),
    problems: [...own.problems, ...(project?.problems ?? []), ...found.problems()],
  }
}

class Definitions {
  /** By name in lower case: two that differ only in case would share a directory on some systems. */
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
      const more = names.length > MOST_NAMED ? [`${names.length - MOST_NAMED} more`] : []
      const listed = [...names.slice(0, MOST_NAMED), ...more].join(", ")
      return `In the agent${names.length === 1 ? "" : "s"} ${listed}, ${escaped(remark)}.`
    })
    return [...this.#bad, ...remarks]
  }

  #refuse({ name }: AgentFile, why: string): void {
    this.#bad.push(`The agent file ${name} is not used, because ${escaped(why)}.`)
  }
}
