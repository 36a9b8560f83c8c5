"""Pictures for the labs' pages, in the place of those that are made of characters for a terminal: what is read from a
screen of a telephone, too, and has words for those who cannot see it."""

import zlib

HEIGHT, BOX = 200, 26


def line(x1, y1, x2, y2, text="", wide=1.5, arrow=True):
    """A wire, with its text in the middle of it."""
    tip = ' marker-end="url(#tip)"' if arrow else ""
    out = f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="{wide}" class="way"{tip}/>'
    if text:
        out += (f'<text x="{(x1 + x2) / 2}" y="{(y1 + y2) / 2 - 5}" text-anchor="middle" class="count">'
                f'{text}</text>')
    return out


def box(x, y, width, text):
    return (f'<rect x="{x - width / 2}" y="{y - BOX / 2}" width="{width}" height="{BOX}" rx="4" class="part"/>'
            f'<text x="{x}" y="{y + 4.5}" text-anchor="middle">{text}</text>')


def panel(title, body, words, width=330, height=HEIGHT):
    """A picture with its own arrow's tip, since an id stands once on a page."""
    tip = f"tip{zlib.crc32(words.encode()):08x}"
    body = body.replace("#tip", "#" + tip)
    caption = f"<figcaption>{title}</figcaption>" if title else ""
    return (f'<figure>{caption}<svg viewBox="0 0 {width} {height}" role="img" aria-label="{words}"><defs>'
            f'<marker id="{tip}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10" '
            'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 Z" class="tip"/></marker></defs>'
            f'{body}</svg></figure>')


def machine():
    """Lab 1: four GPUs, two switches, a link from each to each."""
    gpus = [(70 + 150 * g, 24) for g in range(4)]
    switches = [(145, 176), (445, 176)]
    body = "".join(line(x, y + BOX / 2, sx, sy - BOX / 2, arrow=False) for x, y in gpus for sx, sy in switches)
    body += "".join(box(x, y, 84, f"GPU {g}") for g, (x, y) in enumerate(gpus))
    body += "".join(box(x, y, 270, f"switch {s}: link {s} of each GPU") for s, (x, y) in enumerate(switches))
    return panel("", body, "GPUs 0 to 3. Link 0 of each GPU goes to switch 0, link 1 of each GPU to switch 1; no wire "
                 "goes from GPU to GPU.", width=590)


def fan(title, words, first, sent, members, up, label="switch"):
    """GPU 0, a switch, and the members behind it; up: towards GPU 0."""
    ys = [100 + (i - (len(members) - 1) / 2) * 46 for i in range(len(members))]
    wide = 4 if sent > 1 else 1.5
    near, far = (74, 128), (196, 254)
    body = line(*((near[1], 100, near[0], 100) if up else (near[0], 100, near[1], 100)), str(sent), wide)
    for y in ys:
        body += line(*((far[1], y, far[0], 100) if up else (far[0], 100, far[1], y)), "1")
    body += box(40, 100, 66, first) + box(162, 100, 68, label)
    body += "".join(box(288, y, 66, member) for y, member in zip(ys, members))
    return panel(title, body, words)


def copies():
    """Lab 2."""
    return (fan("unicast: 3 packets up", "GPU 0 sends 3 packets to the switch, which passes one to each of GPU 1, 2 "
                "and 3.", "GPU 0", 3, ["GPU 1", "GPU 2", "GPU 3"], False) +
            fan("multicast: 1 packet up", "GPU 0 sends 1 packet to the switch, which makes a copy for each of GPU 0, "
                "1, 2 and 3.", "GPU 0", 1, ["GPU 0", "GPU 1", "GPU 2", "GPU 3"], False))


def sums():
    """Lab 4."""
    return (fan("unicast: all lists come down", "GPU 1, 2 and 3 send a list each to the switch, and 3 lists come down "
                "to GPU 0.", "GPU 0", 3, ["GPU 1", "GPU 2", "GPU 3"], True) +
            fan("in the switch: one sum comes down", "GPU 0, 1, 2 and 3 send a list each to the switch, which adds "
                "them up: 1 list comes down to GPU 0.", "GPU 0", 1, ["GPU 0", "GPU 1", "GPU 2", "GPU 3"], True,
                "switch +"))


PICTURES = {"1": machine, "2": copies, "4": sums}


def picture(lab):
    """Of the lab of this number, where its text has one; else nothing."""
    return f'<div class="drawn">{PICTURES[lab]()}</div>\n' if lab in PICTURES else ""
