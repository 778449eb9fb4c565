/** Names from outside, checked before they reach the server, and how a place is named there. */
import { InvalidIdError, isSafeId } from "@strata/core"
import { checkedId } from "@strata/core/base"
import type { MemoryPlace } from "@strata/core/store"

/** The same names as in a file store. */
export function checkedBlobName(name: string): string {
  const [, stem, extension = ""] = /^([^.]+)(?:\.([^.]+))?$/.exec(name) ?? []
  if (stem === undefined || !isSafeId(stem + extension)) throw new InvalidIdError("file name", name)
  return name
}

export const checkedProject = (project: string): string => checkedId("project name", project)

/** The parts of the key of a journal's place: the project, and the conversation that it belongs to. */
export const placeKey = ({ project, under }: { readonly project: string; readonly under?: string }) =>
  [checkedProject(project), under === undefined ? "" : checkedId("conversation id", under)] as const

/** A memory place as one text. No part has a slash, so no two places share one. */
export function memoryKey(place: Exclude<MemoryPlace, { readonly scope: "project" }>): string {
  if ("shared" in place) return "shared/"
  if (!("agent" in place)) return `${place.beside ?? "memory"}/${checkedProject(place.project)}`
  const agent = checkedId("name for an agent", place.agent)
  return place.scope === "user" ? `agent/${agent}` : `agent/${agent}/${checkedProject(place.project)}`
}

/** The place of a key that `memoryKey` made. */
export function memoryPlace(key: string): Exclude<MemoryPlace, { readonly scope: "project" }> {
  const [kind = "", name = "", project] = key.split("/")
  if (kind === "shared") return { shared: true }
  if (kind === "agent")
    return project === undefined ? { agent: name, scope: "user" } : { agent: name, scope: "local", project }
  return kind === "memory" ? { project: name } : { project: name, beside: kind as "dreams" | "directories" }
}
