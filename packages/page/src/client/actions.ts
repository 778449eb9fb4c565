/** Handles the user's actions on a page: opening a block, confirmed actions, and copying an address. */
import { fragment } from "./live.ts"

const PAGE_HEADER = { "x-strata-page": "1" }

export function listenForActions(): void {
  document.addEventListener("toggle", (event) => void loadOpenedBlock(event.target), true)
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return
    const whole = event.target.closest<HTMLButtonElement>("button[data-whole]")
    const post = event.target.closest<HTMLButtonElement>("button[data-post]")
    if (whole) void showFullText(whole)
    if (post) void act(post)
  })
}

/** Loads the text of a folded block when it is first opened. */
async function loadOpenedBlock(target: EventTarget | null): Promise<void> {
  if (!(target instanceof HTMLDetailsElement) || !target.open) return
  const { block } = target.dataset
  const pre = target.querySelector("pre")
  if (block === undefined || !pre || pre.textContent !== "") return
  pre.textContent = await fetchBlock(block)
  pre.after(exactLink(block))
}

async function showFullText(button: HTMLButtonElement): Promise<void> {
  const { whole } = button.dataset
  const text = button.parentElement?.querySelector(".message-text")
  if (whole === undefined || !text) return
  text.textContent = await fetchBlock(whole)
  button.replaceWith(exactLink(whole))
}

const blockPath = (block: string): string => `${location.pathname.replace(/\/[^/]*$/, "")}/block/${block}`

async function fetchBlock(block: string): Promise<string> {
  const answer = await fetch(blockPath(block)).catch(() => undefined)
  return answer?.ok ? answer.text() : "This cannot be shown now. Load the page again."
}

/** Link to the exact text. The page shows control characters as signs. */
function exactLink(block: string): HTMLAnchorElement {
  const link = document.createElement("a")
  link.href = `${blockPath(block)}?exact`
  link.className = "exact"
  link.textContent = "Save the exact text"
  return link
}

async function act(button: HTMLButtonElement): Promise<void> {
  const { post, into, asks, asksMore = "" } = button.dataset
  if (post === undefined || (asks !== undefined && !(await confirmAction(asks, asksMore)))) return
  button.disabled = true
  try {
    const answer = await fetch(post, { method: "POST", headers: PAGE_HEADER })
    const text = answer.ok ? await answer.text() : "<p>That failed. Nothing was changed. Load the page again.</p>"
    document.getElementById(into ?? "")?.replaceChildren(fragment(text))
  } finally {
    button.disabled = false
    button.focus()
  }
}

/** Asks for confirmation with a dialog. Escape and Cancel decline. */
function confirmAction(title: string, more: string): Promise<boolean> {
  const dialog = document.querySelector<HTMLDialogElement>("[data-ask]")
  if (!dialog) return Promise.resolve(false)
  dialog.querySelector("h2")!.textContent = title
  dialog.querySelector("[data-ask-words]")!.textContent = more
  dialog.returnValue = "no"
  dialog.showModal()
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }),
  )
}
