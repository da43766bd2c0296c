// Lets the search of the site work from a disk. Browsers refuse workers there; this one runs in a hidden frame instead.
"use strict"

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inside = frame.contentWindow
      inside.document.write("<!doctype html><title></title>") // so that Firefox keeps the document
      inside.document.close()
      const queue = [] // messages until the script is loaded
      const begin = () => {
        this.postMessage = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }))
        queue.forEach((data) => this.postMessage(data))
      }
      this.postMessage = (data) => queue.push(data)
      this.terminate = () => frame.remove()
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      const script = inside.document.createElement("script")
      script.src = url
      script.onload = begin
      inside.document.head.appendChild(script)
    }
  }
}
