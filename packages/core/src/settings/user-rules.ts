/** The permission rules in the person's own settings file: to look at and to change. */
import { join } from "node:path"
import { RULE_LISTS, type RuleList } from "../base/enums.ts"
import { changeRules } from "./change-settings.ts"
import { asRecord } from "./claude-settings.ts"
import { readSettingsFile } from "./settings-files.ts"

/** A rule of the person's settings. */
export interface UserRule {
  readonly list: RuleList
  readonly rule: string
}

/** Changes count for conversations that are opened afterwards. */
export interface UserRules {
  /** The settings file. */
  readonly file: string
  list(): Promise<readonly UserRule[]>
  /** A rule that is there already is not added again. */
  add(rule: UserRule): Promise<void>
  remove(rule: UserRule): Promise<void>
}

/** `dir`: where Strata keeps its files. */
export function userRules(dir: string): UserRules {
  const file = join(dir, "settings.json")
  return {
    file,
    async list() {
      const permissions = asRecord(asRecord(await readSettingsFile(file)).permissions)
      return RULE_LISTS.flatMap((list) => {
        const rules: unknown = permissions[list]
        return Array.isArray(rules) ? rules.map((rule) => ({ list, rule: String(rule) })) : []
      })
    },
    add: (rule) => changeRules(dir, { ...rule, change: "add" }),
    remove: (rule) => changeRules(dir, { ...rule, change: "remove" }),
  }
}
