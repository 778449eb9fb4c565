/** The conversations kept for a project. */
import { projectName } from "../base/ids.ts"
import { anOption, aPort, checkOptions, type OptionRules } from "../base/options.ts"
import { OWNER_OPTION, type Owner, placeFor } from "../base/owner.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { defaultRoot } from "../journal/file/layout.ts"
import type { Store } from "../journal/store.ts"

/** Whose conversations to list, and where they are kept. */
export interface ListOptions {
  /** Where journals are kept. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  /** The project's directory. Default: the working directory. */
  readonly cwd?: string
  /** Whose conversations. Default: those that have no owner. `localPerson`: the program's, and those from before there were owners. */
  readonly owner?: Owner
  /** Default: files under `dir`. */
  readonly store?: Store
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const RULES: OptionRules<ListOptions> = {
  dir: anOption.filledText,
  cwd: anOption.filledText,
  owner: OWNER_OPTION,
  store: aPort.store,
  env: anOption.object,
}

/** Pass its `id` to `openConversation` or `openAgent` to continue it. */
export interface KeptConversation {
  readonly id: string
  /** Its title, else the first line of the first message. */
  readonly title?: string
  readonly model?: string
  /** When it was last written, in ISO 8601. */
  readonly updated: string
}

/** Those in which something was said, newest first. */
export async function listConversations(options: ListOptions = {}): Promise<readonly KeptConversation[]> {
  checkOptions("listConversations", options, RULES)
  const { cwd = process.cwd(), env = process.env, owner } = options
  const store = options.store ?? fileStore({ root: options.dir ?? defaultRoot(env) })
  const listings = await store.list(placeFor(projectName(cwd), owner))
  return listings
    .filter(({ facts, firstWords }) => facts !== undefined || firstWords !== undefined)
    .map(({ id, touched, facts, firstWords }) => {
      const title = facts?.title ?? firstWords
      const model = facts?.model
      return {
        id,
        updated: touched,
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
      }
    })
}
