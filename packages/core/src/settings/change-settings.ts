/**
 * Changes one value or one permission rule in the user's settings file. Everything else in the file stays, and a file that is not JSON is
 * not changed.
 */
import { randomUUID } from "node:crypto"
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { RuleList } from "../base/enums.ts"
import { SettingsError } from "../base/errors.ts"
import { realPath } from "../base/files.ts"
import { asRecord, isRecord } from "./claude-settings.ts"
import { readSettingsFile } from "./settings-files.ts"
import type { Settings } from "./settings-schema.ts"

const OWNER_ONLY = { directory: 0o700, file: 0o600 }

export interface RecordChange {
  /** The name of a setting whose value is a record. */
  readonly key: "claudeHome"
  readonly name: string
  readonly value: Settings["claudeHome"][string]
}

/** `root` is the directory of the settings file. */
export function changeSettings(root: string, { key, name, value }: RecordChange): Promise<void> {
  return rewrite(root, (content) => ({ ...content, [key]: { ...asRecord(content[key]), [name]: value } }))
}

export interface RuleChange {
  readonly list: RuleList
  readonly rule: string
  readonly change: "add" | "remove"
}

/** Other rules keep their order. An existing rule is not added again. */
export function changeRules(root: string, { list, rule, change }: RuleChange): Promise<void> {
  return rewrite(root, (content) => {
    const permissions = asRecord(content.permissions)
    const given: unknown = permissions[list] ?? []
    const others = Array.isArray(given) ? given.filter((one) => one !== rule) : []
    const isThere = Array.isArray(given) && given.includes(rule)
    const rules = change === "remove" ? others : isThere ? given : [...others, rule]
    return { ...content, permissions: { ...permissions, [list]: rules } }
  })
}

type Content = Readonly<Record<string, unknown>>

/** Rewrites the settings file. If it is a link, the link stays. */
async function rewrite(root: string, change: (content: Content) => Content): Promise<void> {
  const named = join(root, "settings.json")
  const file = realPath(named) ?? named
  const content = await readSettingsFile(file)
  if (!isRecord(content)) throw new SettingsError([{ source: file, key: "", reason: "must be an object" }])
  const changed = change(content)
  const mode = await stat(file).then(
    (facts) => facts.mode & 0o777,
    () => OWNER_ONLY.file,
  )
  const draft = `${file}.${randomUUID()}.draft`
  await mkdir(dirname(file), { recursive: true, mode: OWNER_ONLY.directory })
  try {
    await writeFile(draft, `${JSON.stringify(changed, undefined, 2)}\n`, { flag: "wx", mode, flush: true })
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}
