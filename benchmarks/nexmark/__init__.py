"""NEXMark: an auction site's persons, auctions and bids, and the queries of its benchmark. https://datalab.cs.pdx.edu/niagaraST/NEXMark/"""
