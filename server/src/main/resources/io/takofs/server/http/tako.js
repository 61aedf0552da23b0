// Keeps the page up to date; without it the page is as it was loaded.
"use strict";
const PERIOD_MS = 5000;

async function refresh() {
  const main = document.querySelector("main");
  try {
    const response = await fetch(location.href, {cache: "no-store"});
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = document.adoptNode(page.querySelector("main"));
    // Charts are drawn, and have a pace of their own.
    const charts = main.querySelector("#charts");
    const place = fresh.querySelector("#charts");
    if (charts && place) {
      place.replaceWith(charts);
    }
    main.replaceWith(fresh);
  } catch (failure) {
    main.classList.add("stale");
  }
  setTimeout(refresh, PERIOD_MS);
}

setTimeout(refresh, PERIOD_MS);
