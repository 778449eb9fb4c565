/** Lists and changes the permission rules in the user's own settings file. */
import { join } from "node:path"
import { RULE_LISTS, type RuleList } from "../base/enums.ts"
import { changeRules } from "./change-settings.ts"
import { asRecord } from "./claude-settings.ts"
import { readSettingsFile } from "./settings-files.ts"

/** A permission rule in the user's settings. */
export interface UserRule {
  readonly list: RuleList
  readonly rule: string
}

/** Changes apply to conversations that are opened later. */
export interface UserRules {
  /** The settings file. */
  readonly file: string
  list(): Promise<readonly UserRule[]>
  /** Does nothing if the rule already exists. */
  add(rule: UserRule): Promise<void>
  remove(rule: UserRule): Promise<void>
}

/** `dir` is the root directory of Strata's files. */
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
