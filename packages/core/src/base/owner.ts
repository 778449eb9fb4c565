/**
 * Owners of conversations and memories. The owner is part of the namespace under which a store keeps a project. So every store separates
 * owners, and no search, listing or dream has to filter. Data without an owner has a namespace of its own.
 */
import { hash } from "node:crypto"
import type { OptionRule } from "./options.ts"

/**
 * The user of this machine, within one project: owns what the program stores, and what was stored before there were owners. It is a
 * symbol, so no name from outside can equal it.
 */
export const localUser: unique symbol = Symbol.for("strata.localPerson")

/** Any text that names a user, a team or a customer. Texts are compared exactly. */
export type Owner = string | typeof localUser

/** With which conversations this one shares memories. `false`: with none. */
export type MemoryOption =
  | {
      readonly owner: Owner
      /** The directory that the conversation is about, if it is not the working directory. Its project's memory is used. */
      readonly directory?: string
    }
  | false

const isOwner = (value: unknown): value is Owner =>
  value === localUser || (typeof value === "string" && value.trim() !== "")

export const OWNER_OPTION: OptionRule = { expected: "a text that is not empty, or localUser", accepts: isOwner }

export const MEMORY_OPTION: OptionRule = {
  expected: "an object with an owner, such as { owner: userId }, or false",
  accepts: (value) => {
    if (typeof value !== "object" || value === null) return value === false
    const { owner, directory, ...rest } = value as { readonly owner?: unknown; readonly directory?: unknown }
    const isPlace = directory === undefined || (typeof directory === "string" && directory !== "")
    return Object.keys(rest).length === 0 && isOwner(owner) && isPlace
  },
}

/** Copies the owner into the options, so that a later change of the caller's object does not change whose data is used. */
export function withFixedOwner<T extends { readonly memory?: MemoryOption }>(options: T): T {
  const { memory } = options
  return memory ? { ...options, memory: { ...memory } } : options
}

export const ownerOption = (memory: MemoryOption | undefined): Owner | undefined => (memory ? memory.owner : undefined)

/** `projectName` never produces this character. */
const SEPARATOR = "_"
/** Maximum length of a project's name within a namespace. The rest is for the owner. */
export const MAX_PROJECT_PREFIX = 120
const DIGITS = 40 // of SHA-256, so that no two owners share a namespace

/**
 * The namespace of what an owner has in a project. Equal only for equal owners: a hash has no case, path or alternative spelling. Without
 * an owner: the namespace of conversations that no other conversation may read.
 */
export function namespaceFor(project: string, owner: Owner | undefined): string {
  if (owner === localUser) return project
  if (owner === undefined) return `${project}${SEPARATOR}unowned`
  // hashed by code units, because in UTF-8 all lone surrogates would be equal
  const exactly = Buffer.from(`${project}\0${owner}`, "utf16le")
  return `${project.slice(0, MAX_PROJECT_PREFIX)}${SEPARATOR}owner${SEPARATOR}${hash("sha256", exactly, "hex").slice(0, DIGITS)}`
}

/** Whether a namespace belongs to the local user. */
export const isLocalNamespace = (place: string): boolean => !place.includes(SEPARATOR)

/** Whether a namespace belongs to a project, with any owner. */
export const isNamespaceOf = (project: string, place: string): boolean =>
  place === project ||
  place.startsWith(`${project}${SEPARATOR}`) ||
  place.startsWith(`${project.slice(0, MAX_PROJECT_PREFIX)}${SEPARATOR}owner`)

/** The namespace of what an owner has across all projects. */
export const globalNamespace = (owner: string): string => namespaceFor("", owner)
