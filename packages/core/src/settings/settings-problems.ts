/** Says what is wrong with a setting and what is allowed, as the end of a sentence that begins with the setting's name. */
import type { SettingsProblem } from "../base/errors.ts"
import { escaped } from "../base/escaped-text.ts"
import type { SettingsIssue } from "./settings-schema.ts"

export function problemsOf(source: string, issue: SettingsIssue): SettingsProblem[] {
  const key = escaped(issue.path.join("."))
  if (issue.code !== "unrecognized_keys") return [{ source, key, reason: reasonFor(issue) }]
  return issue.keys.map((name) => {
    const shown = escaped(name)
    return { source, key: key ? `${key}.${shown}` : shown, reason: "is not a known setting" }
  })
}

function reasonFor(issue: Exclude<SettingsIssue, { code: "unrecognized_keys" }>): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${KINDS[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return `must be ${listed(issue.values.map((value) => JSON.stringify(value)))}`
    case "too_small":
      return issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}`
    case "too_big":
      return `must be at most ${issue.maximum}`
    case "invalid_format":
      return `must be a valid ${issue.format === "url" ? "URL" : issue.format}`
    default:
      return issue.message
  }
}

const KINDS: Readonly<Record<string, string>> = {
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  string: "a text",
  array: "a list",
  object: "an object",
  record: "an object",
}

function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`
}
