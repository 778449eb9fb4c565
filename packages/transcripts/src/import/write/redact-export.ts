/**
 * Redacts messages before they leave the machine: secrets are replaced by a note, the home directory by `~`. A signature covers the exact
 * text, so signed thinking that would change is omitted.
 */

import type { Block } from "@strata/core"
import { findSecrets, maskSecrets } from "@strata/core/base"
import { contentOf, isThinking, type Message } from "@strata/core/messages"
import type { OmittedContent } from "./omitted.ts"

export interface RedactionOptions {
  readonly maskSecrets: boolean
  /** Directories to write as `~`. */
  readonly homes: readonly string[]
}

/** Fields with ids or encrypted content, which contain no secrets and become useless if a byte changes. */
const NEVER_CHANGED: ReadonlySet<string> = new Set(["type", "id", "tool_use_id", "encrypted_content", "media_type"])
/** Fields that are fixed only in these kinds of blocks. */
const FIXED_IN_BLOCKS: Readonly<Record<string, readonly string[]>> = {
  signature: ["thinking"],
  data: ["base64", "redacted_thinking"],
}
/** Fields with arbitrary content from a model or another program, in which field names have no fixed meaning. */
const FREE_FORM: ReadonlySet<string> = new Set(["input", "data"])

function isFixed(name: string, fields: object): boolean {
  const { type, [name]: value } = fields as Readonly<Record<string, unknown>>
  if (typeof value !== "string") return false
  return (
    NEVER_CHANGED.has(name) || (Object.hasOwn(FIXED_IN_BLOCKS, name) && FIXED_IN_BLOCKS[name]!.includes(String(type)))
  )
}

export class Redactor {
  readonly #disguise: RedactionOptions
  readonly #home: RegExp | undefined
  #secrets = 0

  constructor(disguise: RedactionOptions) {
    this.#disguise = disguise
    const homes = disguise.homes.filter((home) => home.length > 1)
    // in a text inside JSON, backslashes are doubled
    const spellings = (home: string) => [home, home.replaceAll("\\", "\\\\"), encodeURIComponent(home)]
    const spelled = homes.flatMap(spellings).map(asPattern).join("|")
    // Claude Code names a project's folder after its path
    const folders = homes.map((home) => asPattern(home.replace(/[^A-Za-z0-9]/g, "-"))).join("|")
    this.#home =
      spelled === ""
        ? undefined
        : new RegExp(`(?<![\\w.-])(?:${spelled})(?![\\w-])|(?<=[/\\\\])(?:${folders})(?!\\w)`, "g")
  }

  /** Number of masked secrets. */
  get secrets(): number {
    return this.#secrets
  }

  text(text: string): string {
    const shortened = this.#home ? text.replace(this.#home, "~") : text
    if (!this.#disguise.maskSecrets) return shortened
    const found = findSecrets(shortened).length
    this.#secrets += found
    return found === 0 ? shortened : maskSecrets(shortened)
  }

  message(message: Message, leftOut: OmittedContent): Message {
    switch (message.type) {
      case "user":
        return { ...message, message: { ...message.message, content: this.#blocks(contentOf(message), leftOut) } }
      case "assistant":
        return { ...message, message: { ...message.message, content: this.#blocks(contentOf(message), leftOut) } }
      case "attachment":
        return { ...message, attachment: this.#value(message.attachment) }
      case "system":
        return this.#value(message)
      case "progress":
        return message
    }
  }

  #blocks(blocks: readonly Block[], leftOut: OmittedContent): readonly Block[] {
    return blocks.flatMap((block) => {
      const changed = this.#value(block)
      if (changed === block || !isThinking(block)) return [changed]
      leftOut.add("thinking with a secret or a path in it, because its signature covers the exact text")
      return []
    })
  }

  /** Redacts a value. Returns the same object if nothing changes, so that an input keeps the bytes that the model wrote. */
  #value<T>(value: T, isFree = false): T {
    if (typeof value === "string") return this.text(value) as T
    if (Array.isArray(value)) {
      const items = value.map((item: unknown) => this.#value(item, isFree))
      return items.every((item, at) => item === value[at]) ? value : (items as T)
    }
    if (typeof value !== "object" || value === null) return value
    const fields = Object.entries(value)
    const changed = fields.map(([name, item]) => {
      if (isFree) return [this.text(name), this.#value(item, true)] as const
      return [name, isFixed(name, value) ? item : this.#value(item, FREE_FORM.has(name))] as const
    })
    const isSame = changed.every(([name, item], at) => name === fields[at]![0] && item === fields[at]![1])
    return isSame ? value : (Object.fromEntries(changed) as T)
  }
}

/** The home directory that contains a path, as far as the path's form shows it. */
export function homeOf(path: string | undefined): string | undefined {
  return /^(?:\/(?:home|Users)\/[^/]+|[A-Za-z]:\\Users\\[^\\]+)/.exec(path ?? "")?.[0]
}

const asPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
