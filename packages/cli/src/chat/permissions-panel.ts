/** `/permissions`: lists the rules in effect and their origin, and adds and removes the user's rules. */

import { ruleProblems } from "@strata/core/agent"
import { isPermissionRule, PERMISSION_RULE, RULE_LISTS, type RuleList } from "@strata/core/base"
import { userRules } from "@strata/core/settings"
import { pluralize } from "../display/numbers.ts"
import { escapeToLine } from "../display/visible.ts"
import { ruleMeaning } from "../permission-rules.ts"
import type { CommandTarget } from "./command-target.ts"
import type { DialogOption } from "./dialog.ts"
import { confirmAction, showList } from "./list-panel.ts"

export interface ListedRule {
  readonly list: RuleList
  readonly rule: string
  /** Origin of the rule. `yours`: the user's settings file; `source`: another file or option. */
  readonly from: "conversation" | "yours" | { readonly source: string }
}

type Row = ListedRule | "add"

export function showPermissions(target: CommandTarget): Promise<void> {
  return showList<Row>(target, {
    rows: async () => ["add", ...(await rulesOf(target))],
    title: (rows) =>
      `Permissions: mode ${target.agent.mode}, ${pluralize(rows.length - 1, "rule")}. Deny wins, then ask.`,
    option: (row) => (row === "add" ? { label: "Add a rule", letter: "+" } : optionOf(row)),
    enter: (row) => (row === "add" ? addRule(target) : removeRule(target, row)),
    empty: "",
  })
}

const optionOf = ({ list, rule, from }: ListedRule): DialogOption => ({
  label: `${list.padEnd("allow".length)} ${escapeToLine(rule)}`,
  hint: originLabel(from),
})

function originLabel(from: ListedRule["from"]): string {
  if (from === "conversation") return "this conversation"
  return from === "yours" ? "your settings" : escapeToLine(from.source)
}

const yoursOf = ({ place: { root } }: CommandTarget) => userRules(root)

/** All rules in order of precedence: deny, ask, allow. */
export async function rulesOf(target: CommandTarget): Promise<readonly ListedRule[]> {
  const { conversation, shared } = target.agent
  const { file, list: listYours } = yoursOf(target)
  const yours = (await listYours()).map((one) => ({ ...one, from: "yours" as const }))
  const isYours = ({ list, rule }: Pick<ListedRule, "list" | "rule">) =>
    yours.some((one) => one.list === list && one.rule === rule)
  const others = (conversation.settings.rules ?? []).filter(({ source }) => source !== file)
  const all: readonly ListedRule[] = [
    ...yours,
    ...others.map(({ list, rule, source }) => ({ list, rule, from: { source } })),
    ...shared.state.addedRules.filter((one) => !isYours(one)).map((one) => ({ ...one, from: "conversation" as const })),
  ]
  return [...RULE_LISTS].reverse().flatMap((list) => all.filter((rule) => rule.list === list))
}

const EFFECTS: readonly (readonly [RuleList, DialogOption])[] = [
  ["allow", { label: "Allow it without a question", letter: "a", asksReply: "required" }],
  ["ask", { label: "Ask each time", letter: "s", asksReply: "required" }],
  ["deny", { label: "Deny it", letter: "d", asksReply: "required" }],
]

async function addRule(target: CommandTarget): Promise<void> {
  const answer = await target.ask({
    title: "What should the rule do? Choose, then type the rule.",
    why: `A rule is ${PERMISSION_RULE}: Bash(npm test:*), Edit(src/**), Read(~/.ssh/**), WebFetch(domain:example.com)`,
    options: EFFECTS.map(([, option]) => option),
  })
  if (answer.type === "dismissed" || answer.reply === undefined) return
  const list = EFFECTS[answer.index]![0]
  const rule = answer.reply.trim()
  const problem = problemWith({ list, rule }, target)
  if (problem !== undefined) return target.notice(`${problem} Nothing was added.`)
  const where = await target.ask({
    title: `${list} ${escapeToLine(rule)}: ${ruleMeaning(escapeToLine(rule))}`,
    options: [
      { label: "In this conversation", letter: "c" },
      { label: "In all your conversations", letter: "a", hint: yoursOf(target).file },
      { label: "Cancel", letter: "n" },
    ],
  })
  if (where.type === "dismissed" || where.index === 2) return
  if (where.index === 1) await yoursOf(target).add({ list, rule })
  target.agent.shared.state.addRule(list, rule)
}

/** A rule that can match nothing protects no one. */
function problemWith({ list, rule }: Pick<ListedRule, "list" | "rule">, { agent }: CommandTarget): string | undefined {
  if (!isPermissionRule(rule)) return `"${escapeToLine(rule)}" is not a rule: it must be ${PERMISSION_RULE}.`
  const [problem] = ruleProblems({ allow: [], ask: [], deny: [], [list]: [rule] }, agent.shared.toolset.tools)
  return problem
}

async function removeRule(target: CommandTarget, { list, rule, from }: ListedRule): Promise<void> {
  const shown = `${list} ${escapeToLine(rule)}`
  if (from !== "conversation" && from !== "yours")
    return target.notice(`"${shown}" comes from ${escapeToLine(from.source)}. Change it there.`)
  const where = from === "yours" ? "your settings and this conversation" : "this conversation"
  if (!(await confirmAction(target, `Remove "${shown}" from ${where}?`, "Yes, remove it"))) return
  if (from === "yours") await yoursOf(target).remove({ list, rule })
  target.agent.shared.state.removeRule(list, rule)
}
