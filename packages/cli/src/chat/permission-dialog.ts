/**
 * The question about a tool call. It shows everything that would happen, once: a command in full with unusual parts highlighted, the
 * complete diff of an edit, the resolved address of a page, or the complete input of other tools.
 */

import { isAbsolute, relative } from "node:path"
import type { PermissionRequest } from "@strata/core"
import type { UnusualKind } from "@strata/core/agent"
import { describeCall } from "../display/tool-calls.ts"
import { ruleMeaning } from "../permission-rules.ts"
import type { DialogBody, DialogDraft, DialogNote, DialogOption } from "./dialog.ts"

const YES: DialogOption = { label: "Yes", letter: "y" }
const NO: DialogOption = { label: "No (say why)", letter: "n", asksReply: "optional" }

export interface PermissionSubject {
  readonly request: PermissionRequest
  readonly project: string
}

/** The dialog for a permission request. If a sub-agent asks, the title names it. */
export function permissionDialog(subject: PermissionSubject): DialogDraft {
  const { agent } = subject.request
  const dialog = dialogAbout(subject)
  return agent === undefined ? dialog : { ...dialog, agent, title: `The agent ${agent} asks: ${dialog.title}` }
}

function dialogAbout({ request, project }: PermissionSubject): DialogDraft {
  const { id, tool, question, why } = request
  const { kind, subject, paths = [], preview, summary } = question
  const about = { options: permissionChoices(request).map(({ option }) => option), why, call: id }
  if (subject !== undefined && kind !== "network") return { ...about, ...commandText(request, subject) }
  if (subject !== undefined) return { ...about, ...addressText(request, subject) }
  const form = kind === "write" ? ("diff" as const) : ("text" as const)
  return {
    ...about,
    title: paths.length > 0 ? describeCall(tool, summary) : `Call ${tool}?`,
    notes: paths.map((path) => fileNote(path, project)),
    body: { form, text: preview ?? summary },
  }
}

/** The question whether to save a memory extracted from the conversation. It comes after the answer, and work continues meanwhile. */
export function memoryDialog({ question: { summary, paths = [], preview }, why }: PermissionRequest): DialogDraft {
  return {
    title: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}?`,
    why,
    notes: paths.map((path) => ({ text: `File: ${path}`, tone: "plain" })),
    body: { form: "diff", text: preview ?? summary },
    options: [
      { label: "Yes, remember it", letter: "y" },
      { label: "No", letter: "n" },
    ],
  }
}

/** An answer to the question, and the rules that it adds for the rest of the conversation. */
export interface PermissionChoice {
  readonly option: DialogOption
  readonly allowed: boolean
  readonly rules: readonly string[]
}

/** The possible answers. Rules are shown verbatim, so that exactly the rules that the user has read are added. */
export function permissionChoices({ rules = [], exactRules }: PermissionRequest): readonly PermissionChoice[] {
  const again = (option: DialogOption, added: readonly string[]): PermissionChoice => {
    const about = added.map((rule) => `${rule} allows ${ruleMeaning(rule)}.`).join(" ")
    return { option: { ...option, about }, allowed: true, rules: added }
  }
  return [
    { option: YES, allowed: true, rules: [] },
    ...(rules.length === 0 ? [] : [again(DONT_ASK_AGAIN, rules)]),
    ...(exactRules === undefined ? [] : [again(NOT_FOR_THIS, exactRules)]),
    { option: NO, allowed: false, rules: [] },
  ]
}

const DONT_ASK_AGAIN: DialogOption = { label: "Yes, and don't ask again in this conversation", letter: "a" }
const NOT_FOR_THIS: DialogOption = { label: "Yes, and don't ask again for exactly this", letter: "e" }

/** Explains each kind of unusual part, for the legend. */
const UNUSUAL: Readonly<Record<UnusualKind, string>> = {
  substitution: "runs another command and uses its output",
  redirection: "reads or writes a file",
  "here-document": "gives text to a program as its input",
  background: "continues running in the background",
  escape: "writes characters in another form",
  "control character": "a character that controls terminals",
  "invisible character": "a character that cannot be seen",
  "look-alike character": "a letter that looks like another one",
}

type PermissionText = Pick<DialogDraft, "title" | "notes" | "body">

/** Omits a note that repeats the reason, which is shown above the notes. */
function commandText({ tool, question, why }: PermissionRequest, line: string): PermissionText {
  const { command, preview } = question
  const highlights = command?.unusual ?? []
  const kinds = [...new Set(highlights.map(({ kind }) => kind))]
  const description = preview?.endsWith(line) ? preview.slice(0, -line.length).trim() : ""
  const notes: readonly DialogNote[] = [
    ...(description === "" ? [] : [{ text: `The model describes it as: ${description}`, tone: "plain" as const }]),
    ...(command?.unknown ?? [])
      .filter((text) => !saysSame(text, why))
      .map((text) => ({ text: `! ${text}`, tone: "warning" as const })),
    ...kinds.map((kind) => ({ text: `! ${kind}: ${UNUSUAL[kind]}`, tone: "warning" as const })),
  ]
  return {
    title: tool === "Bash" ? "Run this command?" : `Run this with ${tool}?`,
    notes,
    body: { form: "text", text: line, highlights },
  }
}

/** Whether a note repeats the reason, apart from case and full stop. */
const saysSame = (note: string, reason: string): boolean =>
  reason.toLowerCase().endsWith(note.replace(/\.$/, "").toLowerCase())

/** Shows the resolved host, because letters of other scripts can disguise it. */
function addressText({ tool }: PermissionRequest, address: string): PermissionText {
  const host = URL.canParse(address) ? new URL(address).host : undefined
  const isPlain = host === undefined || address.toLowerCase().includes(`//${host}`)
  const notes: readonly DialogNote[] =
    host === undefined
      ? []
      : [
          { text: `Host: ${host}`, tone: "plain" },
          ...(isPlain ? [] : [{ text: "! The address spells its host in another way", tone: "warning" as const }]),
          ...(host.split(".").some((label) => label.startsWith("xn--"))
            ? [
                {
                  text: "! The host has letters of other scripts, which can look like those of another host",
                  tone: "warning" as const,
                },
              ]
            : []),
        ]
  const body: DialogBody = { form: "text", text: address }
  return { title: tool === "WebFetch" ? "Fetch this page?" : `Call ${tool} with this address?`, notes, body }
}

function fileNote(path: string, project: string): DialogNote {
  const inside = relative(project, path)
  const isInside = inside !== "" && inside !== ".." && !inside.startsWith("../") && !isAbsolute(inside)
  return isInside
    ? { text: `File: ${path}`, tone: "plain" }
    : { text: `! File: ${path} (outside the project)`, tone: "warning" }
}
