"""The page: pipelines, their windows and what became of their batches, as HTML. It reads states and changes
nothing.

`views` make plain values, `pictures` draw some of them, `templates` put them into HTML, `app` answers
requests. Whom the page is shown to is decided by who opens it: `muntin ui` by a token, Airflow by the rights
on DAGs.
"""
