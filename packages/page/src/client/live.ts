/** Updates a page when the conversation changes: the server draws the main part again, and it is replaced here. */

interface State {
  readonly rows: number
}

const REDRAW_INTERVAL_MS = 400 // minimum time between two updates
const setStatus = (text: string): void => {
  const place = document.querySelector("[data-live-words]")
  if (place && place.textContent !== text) place.textContent = text
}

export function followEvents(onState: (state: State) => void): void {
  const address = document.documentElement.dataset.events
  if (address === undefined) return
  const events = new EventSource(address)
  const live = document.querySelector("[data-live]")
  let last: string | undefined
  let waits = false
  events.onopen = () => {
    live?.classList.add("on")
    setStatus("live")
  }
  events.onerror = () => {
    live?.classList.remove("on")
    setStatus("not connected; trying again")
  }
  events.onmessage = ({ data }: MessageEvent<string>) => {
    onState(JSON.parse(data) as State)
    const isFirst = last === undefined
    last = data
    if (isFirst || waits || document.querySelector("[data-rows]")) return
    waits = true
    setTimeout(() => {
      waits = false
      void redraw()
    }, REDRAW_INTERVAL_MS)
  }
}

/** Replaces the main part. Open blocks stay open; the focus and what was typed into a search are preserved. */
export async function redraw(): Promise<void> {
  const main = document.querySelector<HTMLElement>("[data-main]")
  if (!main) return
  const answer = await fetch(location.pathname + location.search, { headers: { "x-part": "main" } }).catch(
    () => undefined,
  )
  if (!answer?.ok) return
  const open = [...main.querySelectorAll<HTMLDetailsElement>("details[id][open]")].map(({ id }) => id)
  const regions = [...main.querySelectorAll<HTMLElement>("[aria-live][id]")].filter(
    (place) => place.childElementCount > 0,
  )
  const typed = [...main.querySelectorAll<HTMLInputElement>("input[type=search][id]")].filter(
    ({ value, defaultValue }) => value !== defaultValue,
  )
  const focused = document.activeElement
  const focusKey = focused instanceof HTMLElement && main.contains(focused) ? focusSelector(focused) : undefined
  main.replaceChildren(fragment(await answer.text()))
  for (const id of open) document.getElementById(id)?.setAttribute("open", "")
  for (const place of regions) document.getElementById(place.id)?.replaceChildren(...place.childNodes)
  for (const { id, value } of typed) {
    const input = document.getElementById(id)
    if (input instanceof HTMLInputElement) input.value = value
  }
  if (focusKey !== undefined) document.querySelector<HTMLElement>(focusKey)?.focus({ preventScroll: true })
}

function focusSelector(element: HTMLElement): string | undefined {
  if (element.id !== "") return `#${CSS.escape(element.id)}`
  const { post } = element.dataset
  return post === undefined ? undefined : `[data-post="${CSS.escape(post)}"]`
}

/** Parses HTML from Strata's server. The page's content security policy prevents scripts in it. */
export function fragment(text: string): DocumentFragment {
  return document.createRange().createContextualFragment(text)
}
