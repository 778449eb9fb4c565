/** Validates external names before they reach the server, and builds the keys of namespaces. */
import { InvalidIdError, isSafeId } from "@strata/core"
import { validateId } from "@strata/core/base"
import type { MemoryNamespace } from "@strata/core/store"

/** Accepts the same names as a file store. */
export function validateBlobName(name: string): string {
  const [, stem, extension = ""] = /^([^.]+)(?:\.([^.]+))?$/.exec(name) ?? []
  if (stem === undefined || !isSafeId(stem + extension)) throw new InvalidIdError("file name", name)
  return name
}

export const validateProject = (project: string): string => validateId("project name", project)

/** The key columns of a journal's namespace: the project, and the id of the parent conversation. */
export const journalNamespaceKey = ({ project, under }: { readonly project: string; readonly under?: string }) =>
  [validateProject(project), under === undefined ? "" : validateId("conversation id", under)] as const

/** A memory namespace as one text. No part contains a slash, so keys are unique. */
export function memoryNamespaceKey(place: Exclude<MemoryNamespace, { readonly scope: "project" }>): string {
  if ("shared" in place) return "shared/"
  if (!("agent" in place)) return `${place.collection ?? "memory"}/${validateProject(place.project)}`
  const agent = validateId("name for an agent", place.agent)
  return place.scope === "user" ? `agent/${agent}` : `agent/${agent}/${validateProject(place.project)}`
}

/** Parses a key made by `memoryNamespaceKey`. */
export function parseMemoryNamespace(key: string): Exclude<MemoryNamespace, { readonly scope: "project" }> {
  const [kind = "", name = "", project] = key.split("/")
  if (kind === "shared") return { shared: true }
  if (kind === "agent")
    return project === undefined ? { agent: name, scope: "user" } : { agent: name, scope: "local", project }
  return kind === "memory" ? { project: name } : { project: name, collection: kind as "dreams" | "directories" }
}
