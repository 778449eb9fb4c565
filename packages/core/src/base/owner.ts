/**
 * Whose conversations and memories are. The owner is part of the name by which a store keeps a project. So every store keeps owners apart,
 * and no search, listing or dream has to leave something out. What no one owns has a name of its own too.
 */
import { hash } from "node:crypto"
import type { OptionRule } from "./options.ts"

/**
 * The person at this machine, in one project: the owner of what the program keeps, and of what was kept before there were owners. It is no
 * text, so no name from outside can be it.
 */
export const localUser: unique symbol = Symbol.for("strata.localPerson")

/** Any text that names a user, a team or a customer. Texts are compared exactly. */
export type Owner = string | typeof localUser

/** What a conversation shares with others, and with which ones. `false`: nothing. */
export type MemoryOption =
  | {
      readonly owner: Owner
      /** The directory that the conversation is about, where that is not the working directory: its project's memory counts. */
      readonly directory?: string
    }
  | false

const isOwner = (value: unknown): value is Owner =>
  value === localUser || (typeof value === "string" && value.trim() !== "")

export const OWNER_OPTION: OptionRule = { expected: "a text that is not empty, or localPerson", accepts: isOwner }

export const MEMORY_OPTION: OptionRule = {
  expected: "an object with an owner, such as { owner: userId }, or false",
  accepts: (value) => {
    if (typeof value !== "object" || value === null) return value === false
    const { owner, directory, ...rest } = value as { readonly owner?: unknown; readonly directory?: unknown }
    const isPlace = directory === undefined || (typeof directory === "string" && directory !== "")
    return Object.keys(rest).length === 0 && isOwner(owner) && isPlace
  },
}

/** Options with the owner that they name now: what was opened for one owner is never another's, even if the caller's object changes. */
export function withFixedOwner<T extends { readonly memory?: MemoryOption }>(options: T): T {
  const { memory } = options
  return memory ? { ...options, memory: { ...memory } } : options
}

export const ownerOption = (memory: MemoryOption | undefined): Owner | undefined => (memory ? memory.owner : undefined)

/** No name that `projectName` makes has this character. */
const SEPARATOR = "_"
/** Characters of a project's name in the name of a place. The rest is for the owner. */
export const MAX_PROJECT_PREFIX = 120
const DIGITS = 40 // of SHA-256: no two owners share a place

/**
 * The name by which a store keeps what an owner has in a project. Equal only for equal owners: a hash has no case, no path and no other
 * spelling. Without an owner: the place of conversations that no other one may look into.
 */
export function namespaceFor(project: string, owner: Owner | undefined): string {
  if (owner === localUser) return project
  if (owner === undefined) return `${project}${SEPARATOR}unowned`
  // every code unit counts: in UTF-8, all broken characters are the same
  const exactly = Buffer.from(`${project}\0${owner}`, "utf16le")
  return `${project.slice(0, MAX_PROJECT_PREFIX)}${SEPARATOR}owner${SEPARATOR}${hash("sha256", exactly, "hex").slice(0, DIGITS)}`
}

/** Whether a place is the local person's. */
export const isLocalNamespace = (place: string): boolean => !place.includes(SEPARATOR)

/** Whether a place is of a project, with any owner. */
export const isNamespaceOf = (project: string, place: string): boolean =>
  place === project ||
  place.startsWith(`${project}${SEPARATOR}`) ||
  place.startsWith(`${project.slice(0, MAX_PROJECT_PREFIX)}${SEPARATOR}owner`)

/** The place of what an owner has for all projects. */
export const globalNamespace = (owner: string): string => namespaceFor("", owner)
